//! Ending, deleting and retrying runs and flows.

use std::sync::Arc;

use flow_tests::support::{Engine, Graph, complete_each};
use serde_json::{Value, json};
use uuid::Uuid;

/// `done` first, then a map, with a step that is skipped and one behind everything.
fn graph() -> Graph {
    Graph::new("work")
        .option("base_delay_ms", 0)
        .single("done", &[])
        .single("gone", &[])
        .with("run_if", json!({"never": true}))
        .map("m", "input", &["done"])
        .single("last", &["gone", "m"])
}

/// How many rows hang on runs, in each table.
const ROWS: &str = "select concat_ws(' ',
    (select count(*) from flow.run), (select count(*) from flow.step_state), (select count(*) from flow.task),
    (select count(*) from flow.attempt_error), (select count(*) from flow.run_key))";

async fn retry(engine: &Engine, run: Uuid) -> sqlx::Result<Uuid> {
    sqlx::query_scalar("select flow.retry_run($1)").bind(run).fetch_one(engine.pool()).await
}

/// Everything there is about a run, to see that none of it changed.
async fn everything(engine: &Engine, run: Uuid) -> (Value, String, String) {
    (engine.run(run).await, engine.steps(run).await, engine.tasks(run).await)
}

/// The text of a refusal.
fn refusal<T: std::fmt::Debug>(result: sqlx::Result<T>) -> String {
    let error = result.unwrap_err();
    let error = error.as_database_error().expect("the server refuses");
    format!("{}: {}", error.code().unwrap(), error.message())
}

// K1
#[tokio::test]
async fn cancelling_a_run_ends_what_is_open_and_keeps_what_has_ended() {
    let graph = graph();
    let engine = Engine::with(&graph).await;
    let run = engine.start("work", json!([1, 2, 3])).await;
    let worker = engine.worker(&graph).await;
    let done = worker.claim_one().await;
    worker.accept(done.complete(1)).await;
    let tasks = worker.claim(2).await;
    worker.accept(tasks[0].complete(1)).await;
    assert_eq!(engine.cancel(run).await, "cancelled");
    assert_eq!(engine.steps(run).await, "done=completed gone=skipped:condition_unmet m=cancelled last=cancelled");
    assert_eq!(engine.tasks(run).await, "done.0=completed/1 m.0=completed/1 m.1=cancelled/1 m.2=cancelled/0");
    assert_eq!(engine.messages().await, 0);
    assert_eq!(worker.settle(&[tasks[1].complete(1)]).await, ["lost"]);
    let row = engine.run(run).await;
    assert!(row["ended_at"].is_string() && row["error"].is_null() && row["error_step"].is_null());
    engine.check().await;
}

// K2
#[tokio::test]
async fn cancelling_an_ended_run_returns_its_status() {
    let graph = Graph::new("one").single("a", &[]);
    let engine = Engine::with(&graph).await;
    let worker = engine.worker(&graph).await;
    for end in ["completed", "failed", "cancelled"] {
        let run = engine.start("one", 1).await;
        let claim = worker.claim_one().await;
        match end {
            "completed" => worker.accept(claim.complete(1)).await,
            "failed" => worker.accept(claim.fail_for_good("no")).await,
            _ => assert_eq!(engine.cancel(run).await, end),
        }
        let before = everything(&engine, run).await;
        assert_eq!(engine.cancel(run).await, end);
        assert_eq!(everything(&engine, run).await, before);
    }
    let unknown = sqlx::query("select flow.cancel_run($1)").bind(Uuid::nil()).execute(engine.pool()).await;
    assert!(refusal(unknown).starts_with("WF002: there is no run 00000000"));
    engine.check().await;
}

// K3
#[tokio::test]
async fn the_workers_that_hold_tasks_are_told() {
    let graph = Graph::new("each").map("m", "input", &[]);
    let engine = Engine::with(&graph).await;
    let workers = [engine.worker(&graph).await, engine.worker(&graph).await, engine.worker(&graph).await];
    let mut listener = sqlx::postgres::PgListener::connect(engine.url()).await.unwrap();
    listener.listen("flow_worker").await.unwrap();
    let run = engine.start("each", json!([1, 2, 3])).await;
    workers[0].claim(1).await;
    let claims = workers[1].claim(1).await;
    engine.cancel(run).await;
    let mut told: Vec<i64> =
        listener.recv().await.unwrap().payload().split(',').map(|id| id.parse().unwrap()).collect();
    told.sort_unstable();
    let mut holders = [workers[0].id, workers[1].id];
    holders.sort_unstable();
    assert_eq!(told, holders);

    // The worker whose settlement fails a run gets them to tell, itself as well: it may run more of that run's tasks.
    assert_eq!(workers[1].settle(&[claims[0].complete(1)]).await, ["lost"]);
    engine.start("each", json!([1, 2])).await;
    let claims = workers[2].claim(2).await;
    let reply = workers[2].exchange(0, &[claims[0].fail_for_good("no")]).await;
    assert_eq!((reply.verdicts, reply.tell_workers), (vec!["accepted".to_owned()], vec![workers[2].id]));
    engine.check().await;
}

// K5
#[tokio::test]
async fn messages_leave_every_queue_of_the_run_and_no_other_run() {
    let graph = Graph::new("three").single("a", &[]).single("b", &[]).map("c", "input", &[]).step_queues();
    let engine = Engine::with(&graph).await;
    let run = engine.start("three", json!([1, 2])).await;
    let other = engine.start("three", json!([1, 2])).await;
    engine.worker_of(&graph, "three__b", &[1]).await.claim(10).await;
    engine.cancel(run).await;
    for (queue, count) in [("q_three__a", 1), ("q_three__b", 0), ("q_three__c", 2)] {
        let query = format!(
            "select coalesce(array_agg(m.run_id::text), '{{}}') from test.messages() m where 'q_' || m.queue = '{queue}'"
        );
        let runs: Vec<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_one(engine.pool()).await.unwrap();
        assert_eq!(runs, vec![other.to_string(); count]);
    }
    engine.check().await;
}

/// Makes runs of `slug` in every state there is, with keys and history.
async fn fill(engine: &Engine, graph: &Graph) -> Vec<Uuid> {
    let worker = engine.worker(graph).await;
    let mut runs = Vec::new();
    for key in ["completed", "failed", "cancelled", "started"] {
        let run: Uuid = sqlx::query_scalar("select flow.start_run($1, '[1]', null, $2)")
            .bind(graph.slug())
            .bind(key)
            .fetch_one(engine.pool())
            .await
            .unwrap();
        runs.push(run);
        let claim = worker.claim_one().await;
        worker.accept(claim.fail("once")).await;
        if key != "started" {
            let claim = worker.claim_one().await;
            if key == "failed" {
                worker.accept(claim.fail_for_good("no")).await;
            } else if key == "cancelled" {
                engine.cancel(run).await;
            } else {
                worker.accept(claim.complete(1)).await;
                worker.complete_all(|_| json!(1)).await;
            }
        }
    }
    sqlx::query("select flow.stop_worker($1)").bind(worker.id).execute(engine.pool()).await.unwrap();
    runs
}

// K6 K7
#[tokio::test]
async fn deleting_a_flow_leaves_nothing_of_it_and_all_of_the_others() {
    let graph = graph();
    let other = Graph::new("other").option("base_delay_ms", 0).single("a", &[]).step_queues();
    let engine = Engine::with(&graph).await;
    engine.run_sql("select flow.set_setting('environment', '\"production\"')").await;
    engine.deploy(&other).await;
    sqlx::query("select flow.start_run('other', '1', null, 'k')").execute(engine.pool()).await.unwrap();
    let worker = engine.worker_of(&other, "other__a", &[0]).await;
    let claim = worker.claim_one().await;
    worker.accept(claim.fail("once")).await;
    let rows = engine.words(ROWS).await;
    fill(&engine, &graph).await;
    assert_ne!(engine.words(ROWS).await, rows);

    engine.run_sql("select flow.delete_flow('work', ends_runs => true)").await;
    assert_eq!(engine.words(ROWS).await, rows);
    let left = "select concat_ws(' ', (select string_agg(f.slug, ',') from flow.flow f), (select string_agg(q.name, ',') from flow.queue q),
                       (select count(distinct s.flow_id) from flow.step s), (select count(distinct c.flow_id) from flow.contract c),
                       (select count(distinct w.flow_id) from flow.worker w), to_regclass('pgmq.q_work') is null,
                       (select count(*) from test.messages() m where m.queue = 'work'))";
    assert_eq!(engine.words(left).await, "other other__a 1 1 1 t 0");
    assert_eq!(engine.deploy(&Graph::new("work").single("new", &[]).step_queues()).await["result"], "created");
    assert_eq!(worker.claim_one().await.attempt, 2);

    let unknown = sqlx::query("select flow.delete_flow('nobody')").execute(engine.pool()).await;
    assert_eq!(refusal(unknown), "WF001: flow \"nobody\" is not deployed");
    engine.check().await;
}

// K7
#[tokio::test]
async fn deleting_a_flow_empties_a_shared_queue_of_its_messages_and_keeps_it() {
    let (mine, theirs) = (Graph::new("mine").single("a", &[]), Graph::new("theirs").single("a", &[]));
    let engine = Engine::with(&mine).await;
    engine.deploy(&theirs).await;
    engine
        .run_sql(
            "update flow.queue set ownership = 'shared', flow_id = null where name = 'mine';
             update flow.step set queue_id = (select queue_id from flow.queue where name = 'mine');
             select flow.start_run('mine', '1'), flow.start_run('theirs', '1')",
        )
        .await;
    engine.run_sql("select flow.delete_flow('mine', ends_runs => true)").await;
    let left = "select f.slug from test.messages() m join flow.run r using (run_id) join flow.flow f using (flow_id) where m.queue = 'mine'";
    assert_eq!(engine.words(left).await, "theirs");
    engine.check().await;
}

// K8 K9 K12
#[tokio::test]
async fn prune_removes_what_ended_before_the_cutoff() {
    let graph = graph();
    let engine = Engine::with(&graph).await;
    let runs = fill(&engine, &graph).await;
    engine
        .run_sql(
            "update flow.run set started_at = '2026-01-01', ended_at = '2026-02-01' where status <> 'started';
             update flow.run set started_at = now() - interval '40 days' where status = 'started';
             select flow.start_run('work', '[]', null, 'edge');
             update flow.run set status = 'cancelled', ended_at = '2026-02-02' where run_id in (select run_id from flow.run_key where key = 'edge');",
        )
        .await;
    let messages = engine.messages().await;
    assert_eq!(engine.value::<i32>("select p.runs from flow.prune('2026-02-01', 100) p").await, 0);
    assert_eq!(engine.value::<i32>("select p.runs from flow.prune('2026-02-02', 100) p").await, 3);
    assert_eq!(engine.words("select k.key from flow.run_key k order by 1").await, "edge started");
    let orphans = "select concat_ws(' ', (select count(*) from flow.step_state where run_id not in (select run_id from flow.run)),
                          (select count(*) from flow.task where run_id not in (select run_id from flow.run)),
                          (select count(*) from flow.attempt_error where run_id not in (select run_id from flow.run)))";
    assert_eq!(engine.words(orphans).await, "0 0 0");
    assert_eq!(engine.messages().await, messages);
    let worker = engine.worker(&graph).await;
    assert_eq!(worker.claim(10).await.iter().filter(|claim| claim.run == runs[3]).count(), 1);

    let fresh: Uuid = engine.value("select flow.start_run('work', '[1]', null, 'completed')").await;
    assert!(!runs.contains(&fresh));
}

// K10
#[tokio::test]
async fn prune_goes_on_until_nothing_is_left() {
    let graph = Graph::new("none").map("m", "input", &[]);
    let engine = Engine::with(&graph).await;
    engine.run_sql("select flow.start_runs('none', array_fill('[]'::text, array[25]))").await;
    let mut calls = Vec::new();
    loop {
        calls.push(
            engine.words("select concat_ws(' ', p.runs, p.has_more) from flow.prune(clock_timestamp(), 10) p").await,
        );
        if calls.last().is_some_and(|last| last.ends_with('f')) {
            break;
        }
    }
    assert_eq!(calls, ["10 t", "10 t", "5 f"]);
    assert_eq!(engine.words(ROWS).await, "0 0 0 0 0");
    engine.check().await;
}

// K11
#[tokio::test]
async fn prune_removes_workers_last_seen_before_the_cutoff() {
    let graph = graph();
    let engine = Engine::with(&graph).await;
    for _ in 0..3 {
        engine.worker(&graph).await;
    }
    engine
        .run_sql(
            "update flow.worker set started_at = '2026-01-01';
             update flow.process p set started_at = '2026-01-01', lease_until = s.at, seen_at = s.at, ended_at = s.at
             from (select process_id, '2026-02-01'::timestamptz + (row_number() over () - 2) * interval '1 ms' as at
                   from flow.process) s
             where s.process_id = p.process_id",
        )
        .await;
    engine.run_sql("select flow.prune('2026-02-01', 1)").await;
    let left = "select (select count(*) from flow.worker) || ' ' || (select count(*) from flow.process)";
    assert_eq!(engine.words(left).await, "2 2");
    // A cutoff in the present does not take the row of a worker between two heartbeats.
    let alive = engine.worker(&graph).await;
    engine.run_sql("select flow.prune(clock_timestamp(), 1)").await;
    assert_eq!(engine.words("select w.worker_id::text from flow.worker w").await, alive.id.to_string());
    engine.check().await;
}

// K13 K14
#[tokio::test]
async fn a_retry_takes_over_what_has_ended() {
    let graph = graph();
    let engine = Engine::with(&graph).await;
    let items: Vec<i32> = (0..10).collect();
    let old: Uuid = sqlx::query_scalar("select flow.start_run('work', $1, null, 'k')")
        .bind(json!(items))
        .fetch_one(engine.pool())
        .await
        .unwrap();
    let worker = engine.worker(&graph).await;
    let done = worker.claim_one().await;
    worker.accept(done.complete("done")).await;
    let tasks = worker.claim(10).await;
    worker.settle(&complete_each(&tasks[..9], |claim| json!(claim.task * 2))).await;
    worker.accept(tasks[9].fail("once")).await;
    let task = worker.claim_one().await;
    worker.accept(task.fail_for_good("broken")).await;
    let before = everything(&engine, old).await;

    let new = retry(&engine, old).await.unwrap();
    assert_eq!(everything(&engine, old).await, before);
    assert_eq!(engine.steps(new).await, "done=completed gone=skipped:condition_unmet m=started last=created");
    assert_eq!(engine.task_counts(new, "m").await, "1 queued, 9 completed");
    let row = engine.run(new).await;
    assert_eq!((&row["status"], &row["input"], &row["remaining_steps"]), (&json!("started"), &json!(items), &json!(2)));
    assert_eq!(row["retry_of"], old.to_string());
    assert_eq!(engine.words("select k.run_id::text from flow.run_key k where k.key = 'k'").await, new.to_string());

    let again = worker.claim_one().await;
    assert_eq!((again.run, again.attempt, again.item.clone()), (new, 1, Some(json!(9))));
    assert_eq!(again.dep(0), Some(&json!("done")));
    worker.accept(again.complete(18)).await;
    let last = worker.claim_one().await;
    assert_eq!(last.dep(2), Some(&json!([0, 2, 4, 6, 8, 10, 12, 14, 16, 18])));
    worker.accept(last.complete("end")).await;
    assert_eq!(engine.result(new).await, ("completed".to_owned(), json!({"last": "end"})));
    assert_eq!(everything(&engine, old).await, before);
    engine.check().await;
}

// K13
#[tokio::test]
async fn a_retry_of_a_cancelled_run_starts_what_was_open() {
    let graph = Graph::new("open")
        .option("base_delay_ms", 0)
        .single("skipped", &[])
        .with("when_exhausted", "skip")
        .single("ran", &[])
        .step_option("start_delay_ms", 600_000)
        .single("behind", &["skipped", "ran"])
        .map("empty", "input", &["behind"])
        .single("end", &["empty"]);
    let engine = Engine::with(&graph).await;
    let old = engine.start("open", json!([])).await;
    engine.pass_time().await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(2).await;
    let of = |step| claims.iter().find(|claim| claim.step == step).unwrap();
    worker.accept(of(0).fail_for_good("no")).await;
    engine.cancel(old).await;
    assert_eq!(
        engine.steps(old).await,
        "skipped=skipped:handler_failed ran=cancelled behind=cancelled empty=cancelled end=cancelled"
    );

    let new = retry(&engine, old).await.unwrap();
    assert_eq!(
        engine.steps(new).await,
        "skipped=skipped:handler_failed ran=started behind=created empty=created end=created"
    );
    assert_eq!(engine.tasks(new).await, "skipped.0=failed/1 ran.0=queued/0");
    assert_eq!(engine.step(new, "skipped").await["error"], "no");
    assert_eq!(engine.visible().await, 1, "a step that had started is not delayed again");
    worker.complete_all(|claim| json!(claim.step)).await;
    assert_eq!(engine.result(new).await, ("completed".to_owned(), json!({"end": 4})));
    engine.check().await;
}

// K13 X3
#[tokio::test]
async fn a_retry_of_a_run_that_a_condition_failed_fails_the_same_way() {
    let graph =
        Graph::new("strict").single("a", &[]).with("run_if", json!(1)).with("when_unmet", "fail").single("b", &[]);
    let engine = Engine::with(&graph).await;
    let old = engine.start("strict", 2).await;
    let new = retry(&engine, old).await.unwrap();
    assert_eq!(engine.steps(new).await, "a=failed b=cancelled");
    assert_eq!(engine.run(new).await["error"], "condition not met");
    let newest = retry(&engine, new).await.unwrap();
    assert_ne!(newest, new);
    assert_eq!(retry(&engine, old).await.unwrap(), new);
    engine.check().await;
}

// K15
#[tokio::test]
async fn retries_at_the_same_time_make_one_run() {
    let graph = Graph::new("one").single("a", &[]);
    let engine = Arc::new(Engine::with(&graph).await);
    let old = engine.start("one", 1).await;
    engine.cancel(old).await;
    let retries = (0..16).map(|_| {
        let engine = Arc::clone(&engine);
        tokio::spawn(async move { retry(&engine, old).await.unwrap() })
    });
    let mut runs = Vec::new();
    for retry in retries.collect::<Vec<_>>() {
        runs.push(retry.await.unwrap());
    }
    runs.dedup();
    assert_eq!(runs.len(), 1);
    assert_eq!(engine.value::<i64>("select count(*) from flow.run").await, 2);
    assert_eq!(engine.messages().await, 1);
}

// K16
#[tokio::test]
async fn a_run_that_has_not_failed_is_not_retried() {
    let graph = Graph::new("one").single("a", &[]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("one", 1).await;
    let rule = "only a failed or cancelled run can be retried";
    assert_eq!(refusal(retry(&engine, run).await), format!("WF017: run {run} is started; {rule}"));
    engine.worker(&graph).await.complete_all(|_| json!(1)).await;
    assert_eq!(refusal(retry(&engine, run).await), format!("WF017: run {run} is completed; {rule}"));
    let unknown = Uuid::now_v7();
    assert_eq!(refusal(retry(&engine, unknown).await), format!("WF002: there is no run {unknown}"));
    engine.check().await;
}

// K17
#[tokio::test]
async fn a_flow_with_a_live_worker_is_deleted_by_force_only() {
    let graph = graph();
    let engine = Engine::with(&graph).await;
    engine.start("work", json!([1])).await;
    let worker = engine.worker(&graph).await;
    let held = worker.claim(1).await;
    let refused = sqlx::query("select flow.delete_flow('work')").execute(engine.pool()).await;
    let text = refusal(refused);
    assert!(text.starts_with(&format!("WF016: worker {} (\"hand\") of flow \"work\" is alive", worker.id)), "{text}");
    assert_eq!(engine.value::<i64>("select count(*) from flow.run").await, 1);

    engine.run_sql("select flow.delete_flow('work', true)").await;
    let reply = worker.exchange(10, &[held[0].complete(1)]).await;
    assert_eq!((reply.state.as_str(), reply.verdicts), ("worker_gone", vec!["lost".to_owned()]));
    assert_eq!(worker.release(&held).await, [false]);

    engine.deploy(&graph).await;
    engine.run_sql("update flow.process set lease_until = now()").await;
    engine.worker(&graph).await;
    engine
        .run_sql("update flow.process set lease_until = now(); select flow.delete_flow('work', ends_runs => true)")
        .await;
    engine.check().await;
}
