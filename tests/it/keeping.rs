//! Housekeeping: what prune, deletion and the retention of ended runs cost a call, whatever they meet.

use std::time::Duration;

use flow_runtime::prelude::*;
use flow_tests::support::{Engine, Graph, TestDb, eventually};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

/// A map over the input.
fn each() -> Graph {
    Graph::new("each").option("base_delay_ms", 0).map("m", "input", &[])
}

/// How many pages a query read, and its first value as text.
async fn pages(engine: &Engine, query: &str) -> i64 {
    let explain = format!("explain (analyze, buffers, format json) {query}");
    let plan: Value = sqlx::query_scalar(AssertSqlSafe(explain)).fetch_one(engine.pool()).await.unwrap();
    let plan = &plan[0]["Plan"];
    plan["Shared Hit Blocks"].as_i64().unwrap() + plan["Shared Read Blocks"].as_i64().unwrap()
}

/// One call of prune: how many runs it removed, and whether there is more.
async fn prune(engine: &Engine, before: &str) -> (i32, bool) {
    let query = format!("select p.runs, p.has_more from flow.prune({before}) p");
    sqlx::query_as(AssertSqlSafe(query)).fetch_one(engine.pool()).await.unwrap()
}

async fn sqlstate(engine: &Engine, query: &'static str) -> String {
    let error = sqlx::raw_sql(query).execute(engine.pool()).await.unwrap_err();
    error.as_database_error().unwrap().code().unwrap().into_owned()
}

// K18
#[tokio::test]
async fn pruning_nothing_costs_the_same_beside_few_and_many_kept_runs() {
    let mut seen = Vec::new();
    for runs in [100, 20_000] {
        let engine = Engine::with(&each()).await;
        engine.insert_history("each", runs, 1).await;
        engine.run_sql("vacuum analyze").await;
        assert_eq!(prune(&engine, "now() - interval '1 day'").await, (0, false));
        seen.push(pages(&engine, "select flow.prune(now() - interval '1 day')").await);
    }
    assert!(seen[1] <= seen[0] + 20, "{seen:?} pages beside 100 and 20,000 runs");
}

// K18 K9
#[tokio::test]
async fn a_call_of_prune_looks_at_so_many_runs_and_the_next_goes_on() {
    let engine = Engine::with(&each()).await;
    // Ten ended runs behind 25,000 older ones that are still open.
    engine
        .run_sql(
            "insert into flow.run (run_id, flow_id, remaining_steps, status, started_at, ended_at, input)
             select md5('r' || n)::uuid, f.flow_id, 1, case when n <= 25000 then 'started' else 'failed' end::flow.run_status,
                    now() - interval '60 days' + n * interval '1 s', case when n > 25000 then now() - interval '50 days' end, '[]'
             from flow.flow f, generate_series(1, 25010) n",
        )
        .await;
    engine.run_sql("vacuum analyze").await;
    let query = "select flow.prune(now() - interval '30 days')";
    let costs = [pages(&engine, query).await, pages(&engine, query).await, pages(&engine, query).await];
    assert_eq!(engine.value::<i64>("select count(*) from flow.run").await, 25_000);
    assert!(costs[2] < costs[0], "the last call had least to look at: {costs:?}");
    assert_eq!(engine.value::<i64>("select count(*) from flow.pruning").await, 0, "the walk has ended");
    // With one instant too.
    let before = "'2100-01-01'";
    assert_eq!(prune(&engine, before).await, (0, true));
    assert_eq!(prune(&engine, before).await, (0, true));
    // Another walk beside it begins anew, and both go on.
    assert_eq!(prune(&engine, "now() - interval '30 days'").await, (0, true));
    assert_eq!(prune(&engine, before).await, (0, false));
}

// K18
#[tokio::test]
async fn what_is_removed_and_not_vacuumed_is_walked_over_once() {
    let engine = Engine::with(&each()).await;
    engine.insert_history("each", 3_000, 1).await;
    engine
        .run_sql(
            "alter table flow.run set (autovacuum_enabled = off);
             update flow.run set started_at = now() - interval '60 days', ended_at = now() - interval '50 days';
             update flow.run set started_at = now() - interval '2 days', ended_at = now()
             where run_id in (select run_id from flow.run limit 100)",
        )
        .await;
    let mut old = engine.pool().begin().await.unwrap();
    sqlx::raw_sql("set transaction isolation level repeatable read; select count(*) from flow.run")
        .execute(&mut *old)
        .await
        .unwrap();
    while prune(&engine, "now() - interval '1 day'").await.1 {}
    assert_eq!(engine.value::<i64>("select count(*) from flow.run").await, 100);
    let query = "select flow.prune(now() - interval '1 day')";
    let (next, later) = (pages(&engine, query).await, pages(&engine, query).await);
    assert!(later * 3 < next, "{next} pages, then {later}");
    old.rollback().await.unwrap();
}

// K19
#[tokio::test]
async fn a_run_of_many_tasks_is_removed_in_parts() {
    let engine = Engine::with(&each()).await;
    engine.insert_history("each", 1, 45_000).await;
    engine
        .run_sql(
            "update flow.run set status = 'failed', output = null;
             insert into flow.run_key (flow_id, key, run_id) select r.flow_id, 'k', r.run_id from flow.run r;
             insert into flow.attempt_error (run_id, step_index, task_index, worker_id, batch, attempt, cause, error, at)
             select t.run_id, 0, t.task_index, 2, 0, 1, 'error', 'no', now() from flow.task t where t.task_index < 12000;
             alter table flow.task set (autovacuum_enabled = off)",
        )
        .await;
    let rows = "select (select count(*) from flow.task) + (select count(*) from flow.attempt_error)";
    let mut left: i64 = engine.value(rows).await;
    let mut costs = Vec::new();
    loop {
        costs.push(pages(&engine, "select flow.prune(now() + interval '1 h')").await);
        let now: i64 = engine.value(rows).await;
        println!("{} pages for {} rows", costs.last().unwrap(), left - now);
        assert!(left - now <= 10_000, "{left} rows, then {now}");
        left = now;
        if engine.value::<i64>("select count(*) from flow.run").await == 0 {
            break;
        }
        let mut retrying = engine.pool().begin().await.unwrap();
        let refused = sqlx::query("select flow.retry_run(r.run_id) from flow.run r").execute(&mut *retrying).await;
        // Its lock is gone before the next call.
        retrying.rollback().await.unwrap();
        assert!(refused.unwrap_err().to_string().contains("is being removed"));
        assert_eq!(engine.value::<i64>("select count(*) from flow.run_key").await, 0, "a start may take the key");
    }
    assert_eq!(costs.len(), 6, "57,001 rows");
    assert!(costs[4] < costs[2] * 3 / 2, "later parts cost no more: {costs:?}");
    assert_eq!(prune(&engine, "now() + interval '1 h'").await, (0, false));
    let left = "select (select count(*) from flow.step_state) + (select count(*) from flow.removal) + (select count(*) from flow.pruning)";
    assert_eq!(engine.value::<i64>(left).await, 0);
}

// K18
#[tokio::test]
async fn many_runs_are_removed_by_their_rows() {
    let engine = Engine::with(&each()).await;
    engine.insert_history("each", 30, 1_000).await;
    let mut removed = Vec::new();
    loop {
        let (runs, has_more) = prune(&engine, "'2100-01-01'").await;
        removed.push(runs);
        if !has_more {
            break;
        }
    }
    assert_eq!(removed, [9, 9, 9, 3]);
    assert_eq!(sqlstate(&engine, "select flow.prune(null)").await, "WF012");
    assert_eq!(sqlstate(&engine, "select flow.prune(now(), 0)").await, "WF012");
}

// K20
#[tokio::test]
async fn a_large_flow_is_deleted_in_parts_and_is_away_from_the_first_one_on() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    engine.insert_history("each", 25, 1_000).await;
    let open = engine.start("each", json!([1])).await;
    let worker = engine.worker(&graph).await;
    let held = worker.claim_one().await;
    let delete = "select flow.delete_flow('each', force => true)::text";
    let mut replies = vec![engine.words(delete).await];
    assert_eq!(sqlstate(&engine, "select flow.start_run('each', '[1]')").await, "WF001");
    let error = engine.try_deploy(&graph.definition()).await.unwrap_err();
    assert_eq!(error.as_database_error().unwrap().code().unwrap(), "WF019");
    assert_eq!(worker.exchange(1, &[held.complete(1)]).await.state, "worker_gone");
    engine.cancel(open).await;
    assert_eq!(
        sqlstate(&engine, "select flow.retry_run(r.run_id) from flow.run r where r.status = 'cancelled'").await,
        "WF002"
    );
    while !replies.last().unwrap().contains("\"done\": true") {
        replies.push(engine.words(delete).await);
    }
    let ended = |reply: &String| serde_json::from_str::<Value>(reply).unwrap()["ended"].as_i64().unwrap();
    assert_eq!((replies.len(), replies.iter().map(ended).sum::<i64>()), (3, 26), "{replies:?}");
    assert_eq!(engine.deploy(&graph).await["result"], "created");
    engine.check().await;
}

// K21
#[tokio::test]
async fn a_deletion_that_waits_for_a_start_keeps_no_other_start_waiting() {
    let engine = Engine::with(&each()).await;
    let mut starting = engine.pool().begin().await.unwrap();
    sqlx::query("select flow.start_run('each', '[]')").execute(&mut *starting).await.unwrap();
    let deleting = sqlx::query("select flow.delete_flow('each')").execute(engine.pool());
    let others = async {
        // Each would be refused if it waited as long as the deletion does.
        for _ in 0..20 {
            let mut other = engine.pool().begin().await.unwrap();
            sqlx::query("set local lock_timeout = '2 s'").execute(&mut *other).await.unwrap();
            sqlx::query("select flow.start_run('each', '[]')").execute(&mut *other).await.unwrap();
            other.commit().await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let (refused, ()) = tokio::join!(deleting, others);
    let error = refused.unwrap_err();
    let error = error.as_database_error().unwrap();
    assert_eq!(error.code().unwrap(), "55P03");
    assert!(error.message().starts_with("flow \"each\" has transactions open that have started runs"), "{error}");
    starting.commit().await.unwrap();
    engine.run_sql("select flow.delete_flow('each')").await;
    assert_eq!(engine.value::<i64>("select count(*) from flow.run").await, 0);
}

/// What `flow.repair_queue` did: sent, given back, and whether there is more.
async fn repair(engine: &Engine, queue: &str) -> (i64, i64, bool) {
    let query = "select r.sent, r.given_back, r.has_more from flow.repair_queue($1) r";
    sqlx::query_as(query).bind(queue).fetch_one(engine.pool()).await.unwrap()
}

const STRANDED: &str = "select q.stranded::text from flow.queues q";

// Q27
#[tokio::test]
async fn a_damaged_queue_is_repaired_whatever_its_delivery() {
    for (engine, purge) in [
        (Engine::of_rows().await, "delete from flow.message; delete from flow.delayed"),
        (Engine::of_pgmq().await, "select pgmq.purge_queue('both')"),
    ] {
        let graph = Graph::new("both").option("base_delay_ms", 0).single("a", &[]).map("m", "input", &[]);
        engine.deploy(&graph).await;
        let run = engine.start("both", json!([1, 2, 3])).await;
        let worker = engine.worker(&graph).await;
        let held = worker.claim(2).await;
        engine.run_sql("select flow.start_run('both', '[4]', start_at => now() + interval '1 h')").await;
        assert_eq!(repair(&engine, "both").await, (0, 0, false), "what is held, waits or is delayed is no damage");
        assert_eq!(engine.words(STRANDED).await, "0");

        engine.run_sql(purge).await;
        engine.run_sql("delete from flow.hand").await;
        assert_eq!(engine.words(STRANDED).await, "6");
        assert_eq!(engine.words("select array_to_string(flow.stranded_queues('both'), ' ')").await, "both");
        assert_eq!(repair(&engine, "both").await, (4, 2, false));
        assert_eq!((repair(&engine, "both").await, engine.words(STRANDED).await.as_str()), ((0, 0, false), "0"));
        engine.check().await;
        assert_eq!((engine.messages().await, engine.visible().await), (6, 4), "what was delayed is not due early");
        let verdicts = worker.settle(&[held[0].complete(1)]).await;
        assert_eq!(verdicts, ["lost"], "it was given back");
        let again = worker.claim(10).await;
        assert!(again.len() == 4 && again.iter().all(|claim| claim.attempt == 1));
        worker.settle(&again.iter().map(|claim| claim.complete(1)).collect::<Vec<_>>()).await;
        assert_eq!(engine.run(run).await["status"], "completed");
        engine.check().await;
        assert_eq!(sqlstate(&engine, "select flow.repair_queue('nobody')").await, "WF007");
    }
}

// Q27
#[tokio::test]
async fn suspects_are_no_damage_and_a_locked_run_is_left_for_later() {
    let graph = each();
    let engine = Engine::of_rows().await;
    engine.deploy(&graph).await;
    let run = engine.start("each", json!([1, 2, 3])).await;
    let worker = engine.worker(&graph).await;
    assert_eq!(worker.claim(2).await.len(), 2);
    engine.end_leases().await;
    assert_eq!(engine.value::<i64>("select count(*) from flow.suspect").await, 2);
    assert_eq!(repair(&engine, "each").await, (0, 0, false));
    engine.run_sql("delete from flow.message").await;
    let mut holding = engine.pool().begin().await.unwrap();
    sqlx::query("select from flow.run where run_id = $1 for update").bind(run).execute(&mut *holding).await.unwrap();
    assert_eq!(repair(&engine, "each").await, (0, 0, true));
    holding.rollback().await.unwrap();
    assert_eq!(repair(&engine, "each").await, (1, 0, false));
    engine.check().await;
}

// K22
#[tokio::test]
async fn a_retention_is_off_until_it_is_set_and_nonsense_is_refused() {
    let engine = Engine::with(&each()).await;
    engine.insert_history("each", 20, 1).await;
    engine
        .run_sql("update flow.run set started_at = now() - interval '40 days', ended_at = now() - interval '31 days'")
        .await;
    let keep = "select concat_ws(' ', k.p_runs, k.p_has_more) from flow.keep_house() k";
    assert_eq!(engine.words(keep).await, "0 f");
    for nonsense in ["'30'", "'a month'", "'0d'", "'-3d'", "''", "null::text", "'30d 4h'"] {
        let error = sqlx::raw_sql(AssertSqlSafe(format!("select flow.set_setting('retention', {nonsense})")))
            .execute(engine.pool())
            .await
            .unwrap_err();
        assert!(
            error.to_string().contains("setting retention takes off, or a number of hours, days or weeks"),
            "{error}"
        );
    }
    engine.run_sql("select flow.set_setting('retention', '32d')").await;
    // Another process is at it.
    let mut other = engine.pool().begin().await.unwrap();
    sqlx::query("select flow.keep_house()").execute(&mut *other).await.unwrap();
    engine.run_sql("select flow.set_setting('retention', '4w')").await;
    assert_eq!(engine.words(keep).await, "0 f");
    other.rollback().await.unwrap();
    assert_eq!(engine.words(keep).await, "20 f");
    engine.run_sql("select flow.set_setting('retention', 'off')").await;
}

/// Ends at once.
struct Nothing;

#[flow(input = u32)]
impl Nothing {
    #[step]
    async fn done(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

// K22
#[tokio::test(flavor = "multi_thread")]
async fn workers_remove_what_the_retention_keeps_no_longer() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Nothing).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    let (old, new) = (client.start::<Nothing>(&1).await.unwrap(), client.start::<Nothing>(&2).await.unwrap());
    for run in [&old, &new] {
        run.wait().await.unwrap();
    }
    sqlx::query(
        "update flow.run set started_at = now() - interval '2 h', ended_at = now() - interval '2 h' where run_id = $1",
    )
    .bind(old.id())
    .execute(test.pool())
    .await
    .unwrap();
    sqlx::raw_sql("select flow.set_setting('retention', '1h')").execute(test.pool()).await.unwrap();
    // The first look comes after some seconds.
    eventually("the old run is gone", async || {
        let left: Vec<Uuid> = sqlx::query_scalar("select run_id from flow.run").fetch_all(test.pool()).await.unwrap();
        left == [new.id().as_uuid()]
    })
    .await;
    worker.shutdown().await.unwrap();
}

// K23
#[tokio::test]
async fn tables_whose_rows_come_and_go_say_how_they_are_kept() {
    let engine = Engine::new().await;
    let options = "select concat(c.relname, ': ', array_to_string(c.reloptions, ' ')) from pg_class c
                   where c.relnamespace = 'flow'::regnamespace and c.relname = any ('{message,delayed,suspect,hand,process,piece}')
                   order by c.relname";
    let kept: Vec<String> = sqlx::query_scalar(options).fetch_all(engine.pool()).await.unwrap();
    let early = "autovacuum_vacuum_scale_factor=0.01 autovacuum_vacuum_threshold=1000 autovacuum_analyze_threshold=5000 vacuum_truncate=off";
    let first = "autovacuum_vacuum_scale_factor=0 autovacuum_vacuum_threshold=200";
    assert_eq!(
        kept,
        [
            format!("delayed: {early}"),
            format!("hand: {early}"),
            format!("message: {early}"),
            "piece: fillfactor=50 autovacuum_vacuum_scale_factor=0.05 autovacuum_analyze_threshold=5000".to_owned(),
            format!("process: fillfactor=50 {first} vacuum_truncate=off"),
            format!("suspect: {first} autovacuum_analyze_threshold=5000 vacuum_truncate=off"),
        ]
    );
}

// K23
#[tokio::test]
async fn vacuum_at_its_threshold_keeps_the_tables_of_a_load_small() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    let process = engine.process(Duration::from_secs(600)).await;
    let worker = engine.worker_in(process, &graph, "each", &[0]).await;
    let pages = "select (pg_relation_size('flow.message') + pg_relation_size('flow.message_pkey') + pg_relation_size('flow.hand')
                         + pg_relation_size('flow.process')) / 8192";
    let mut seen = Vec::new();
    // Somebody else's look at the database at that moment keeps a vacuum from removing anything; it has gone by the next try.
    for _ in 0..4 {
        let mut sizes = Vec::new();
        for _ in 0..8 {
            // As many dead messages as wake autovacuum, which may come by itself too.
            for _ in 0..2 {
                engine.start("each", (0..500).collect::<Vec<_>>()).await;
                worker.complete_all(|_| json!(1)).await;
                worker.heartbeat(&[]).await;
            }
            for table in ["message", "hand", "process"] {
                sqlx::raw_sql(AssertSqlSafe(format!("vacuum flow.{table}"))).execute(engine.pool()).await.unwrap();
            }
            sizes.push(engine.value::<i64>(pages).await);
        }
        if sizes[7] <= sizes[1] * 3 / 2 {
            return;
        }
        seen.push(sizes);
    }
    panic!("pages after each thousand messages: {seen:?}");
}
