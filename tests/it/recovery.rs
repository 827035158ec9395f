//! What a process leaves behind when it dies with ten thousand pieces of work, and who gives it back meanwhile.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use flow_runtime::prelude::*;
use flow_tests::{
    flows::{Pieces, Tick},
    support::{Engine, Graph, eventually},
};
use serde_json::json;
use sqlx::PgPool;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::process;

/// How many pieces each of the two runs of the dying process has.
const PIECES: u32 = 5_000;

/// From here on every renewal is kept that came when the lease was over already.
const WATCH_LEASES: &str = "
create table test.late (process_id bigint, by interval);
create function test.see_late() returns trigger language plpgsql as $$
begin
    insert into test.late
    select new.process_id, new.seen_at - old.lease_until where new.seen_at > old.seen_at and new.seen_at > old.lease_until;
    return null;
end $$;
create trigger see_late after update on flow.process for each row execute function test.see_late();";

/// Two flows of old runs, of which one is pruned and the other deleted.
async fn add_past(engine: &Engine) {
    for slug in ["past", "doomed"] {
        engine.deploy(&Graph::new(slug).single("a", &[]).map("m", "input", &[])).await;
        engine.insert_history(slug, 3_000, 2).await;
    }
}

/// Prunes and deletes those, and cancels a run, all at once.
async fn tidy_up(pool: &PgPool, before: chrono::DateTime<chrono::Utc>, cancelled: Uuid) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for call in [
        "select p.has_more from flow.prune($1) p where $2::uuid is not null",
        "select not (flow.delete_flow('doomed', true) ->> 'done')::boolean where $1::timestamptz is not null and $2::uuid is not null",
        "select flow.cancel_run($2) <> 'cancelled' where $1::timestamptz is not null",
    ] {
        let pool = pool.clone();
        tasks.spawn(async move {
            while sqlx::query_scalar::<_, bool>(call).bind(before).bind(cancelled).fetch_one(&pool).await.unwrap() {}
        });
    }
    tasks
}

/// The tasks of a run by status and attempt, as `5000 completed/1`.
async fn tasks(pool: &PgPool, run: Uuid) -> String {
    let query = "select coalesce(string_agg(c.text, ', ' order by c.text), 'none') from (
                     select concat(count(*), ' ', t.status, '/', t.attempt) as text from flow.task t
                     where t.run_id = $1 group by t.status, t.attempt) c";
    sqlx::query_scalar(query).bind(run).fetch_one(pool).await.unwrap()
}

/// What has become of the past, and of everybody's leases.
async fn check(engine: &Engine, kept: Uuid) {
    let left = "select concat_ws(' ', f.slug, (select count(*) from flow.run r where r.flow_id = f.flow_id))
                from flow.flow f where f.slug in ('past', 'doomed')";
    assert_eq!(engine.words(left).await, "past 0");
    let lost = "select string_agg(c.text, ', ' order by c.text) from (
                    select concat_ws(' ', count(distinct e.task_index), count(*), e.cause, e.used_attempt) as text
                    from flow.attempt_error e where e.run_id = $1 group by e.cause, e.used_attempt) c";
    let lost: String = sqlx::query_scalar(lost).bind(kept).fetch_one(engine.pool()).await.unwrap();
    assert_eq!(lost, format!("{PIECES} {PIECES} lease_expired f"), "each was lost once, in company");
    let hands: i64 = engine.value("select coalesce(sum(cardinality(h.runs)), 0)::bigint from flow.hand h").await;
    assert!(hands < 1_000, "{hands} pieces are still listed");
    assert_eq!(engine.value::<i64>("select count(*) from flow.suspect").await, 0);
    engine.check().await;
}

// L4 L5 L22
#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_pieces_of_a_dead_process_are_recovered_beside_full_load() {
    let engine = Engine::with_connections(12).await;
    let pool = engine.pool();
    engine.run_sql(WATCH_LEASES).await;
    let calls = std::env::temp_dir().join(format!("flow-calls-{}", Uuid::now_v7().simple()));
    let lease = "5000";
    let mut holder = process::start(&["holder", engine.url(), lease]);
    let is_there = "select count(*) from flow.worker";
    eventually("the flow is deployed", async || engine.value::<i64>(is_there).await == 1).await;
    add_past(&engine).await;
    let before: chrono::DateTime<chrono::Utc> = engine.value("select clock_timestamp()").await;
    let client = Client::new(&Db::new(engine.url()).unwrap());
    let items: Vec<u32> = (0..PIECES).collect();
    let kept = client.start::<Pieces>(&items).await.unwrap();
    let cancelled = client.start::<Pieces>(&items).await.unwrap();
    let held = "select count(*) from flow.task t where t.status = 'started'";
    eventually("it holds all of them", async || engine.value::<i64>(held).await == 2 * i64::from(PIECES)).await;

    let others: Vec<_> =
        (0..2).map(|_| process::start(&["pieces", engine.url(), lease, calls.to_str().unwrap()])).collect();
    eventually("the others are there", async || engine.value::<i64>(is_there).await == 5).await;
    // The others are never without work, before, while and after the pieces come back.
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let load = tokio::spawn({
        let client = client.clone();
        let pool = pool.clone();
        async move {
            let mut started = 0;
            while !*stopped.borrow() {
                let open =
                    "select count(*) from flow.message m join flow.queue q using (queue_id) where q.name = 'tick'";
                if sqlx::query_scalar::<_, i64>(open).fetch_one(&pool).await.unwrap() < 1_000 {
                    let inputs: Vec<u32> = (started..started + 500).collect();
                    client.start_many::<Tick>(&inputs).await.unwrap();
                    started += 500;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            i64::from(started)
        }
    });
    let ticked = "select count(*) from flow.run r join flow.flow f using (flow_id) where f.slug = 'tick' and r.status = 'completed'";
    eventually("the others work", async || engine.value::<i64>(ticked).await > 1_000).await;
    holder.signal("KILL");
    holder.ended().await;
    let ended = "select count(*) from flow.process p where p.ended_at is not null";
    eventually("its lease is over", async || engine.value::<i64>(ended).await == 1).await;
    let mut meanwhile = tidy_up(pool, before, cancelled.id().into()).await;
    while let Some(done) = meanwhile.join_next().await {
        done.unwrap();
    }
    let output = tokio::time::timeout(Duration::from_secs(200), kept.wait()).await.expect("the run ends").unwrap();
    assert_eq!(output.piece, items);
    stop.send(true).unwrap();
    let started = load.await.unwrap();
    eventually("the rest of the load is done", async || engine.value::<i64>(ticked).await == started).await;

    assert_eq!(tasks(pool, kept.id().into()).await, format!("{PIECES} completed/1"));
    assert!(
        !tasks(pool, cancelled.id().into()).await.contains("queued")
            && !tasks(pool, cancelled.id().into()).await.contains("started")
    );
    let mut called: HashMap<String, u32> = HashMap::new();
    for line in std::fs::read_to_string(&calls).unwrap().lines() {
        *called.entry(line.to_owned()).or_default() += 1;
    }
    assert_eq!(called.values().filter(|times| **times > 1).count(), 0, "some piece was done twice");
    let of_kept = called.keys().filter(|line| line.starts_with(&kept.id().to_string())).count();
    assert_eq!(of_kept, items.len());
    let once = "select count(*) from flow.step_state ss join flow.flow f using (flow_id) where f.slug = 'tick' and ss.attempt <> 1";
    assert_eq!(engine.value::<i64>(once).await, 0);
    assert_eq!(engine.words("select concat(l.process_id, ' ', l.by) from test.late l").await, "", "a renewal was late");
    assert_eq!(engine.value::<i64>(ended).await, 1, "nobody else lost its lease");
    for mut other in others {
        other.signal("TERM");
        assert!(other.ended().await.0);
    }
    check(&engine, kept.id().into()).await;
    std::fs::remove_file(calls).unwrap();
}

/// A map of two runs, all of it held by one process that is lost; the runs, and the worker with the rows of its hand.
async fn lost_pieces(engine: &Engine, graph: &Graph) -> (Vec<Uuid>, Vec<(i64, i64)>) {
    let inputs: Vec<u32> = (0..PIECES).collect();
    let runs = vec![engine.start("pieces", json!(inputs)).await, engine.start("pieces", json!(inputs)).await];
    let dead = engine.worker(graph).await;
    while !dead.claim(1_000).await.is_empty() {}
    engine.expire_leases().await;
    let rows = engine.hands().await.into_iter().map(|(worker, row, _)| (worker, row)).collect();
    (runs, rows)
}

// Q27
#[tokio::test]
async fn a_look_for_stranded_work_reads_a_large_hand_once() {
    let graph = Graph::new("pieces").map("m", "input", &[]);
    let engine = Engine::with(&graph).await;
    let holder = engine.worker(&graph).await;
    let mut took = Vec::new();
    let mut held = 0;
    for more in [2_000, 8_000] {
        engine.start("pieces", vec![0; more]).await;
        loop {
            match holder.claim(1_000).await.len() {
                0 => break,
                claimed => held += claimed,
            }
        }
        let mut looks = Vec::new();
        for _ in 0..3 {
            let began_at = Instant::now();
            assert_eq!(
                engine.value::<Vec<String>>("select flow.stranded_queues('pieces')").await,
                Vec::<String>::new()
            );
            looks.push(began_at.elapsed());
        }
        looks.sort();
        took.push(looks[1]);
    }
    assert_eq!(held, 10_000);
    // Five times as much: a look that reads the hand again for each piece takes twenty-five times as long.
    assert!(took[1] < took[0] * 12, "{took:?}");
}

// L21 L22
#[tokio::test(flavor = "multi_thread")]
async fn two_who_recover_at_once_give_each_of_ten_thousand_pieces_back_once() {
    let graph = Graph::new("pieces").option("base_delay_ms", 0).map("m", "input", &[]);
    let engine = Engine::with_connections(8).await;
    engine.deploy(&graph).await;
    add_past(&engine).await;
    let before: chrono::DateTime<chrono::Utc> = engine.value("select clock_timestamp()").await;
    let (runs, rows) = lost_pieces(&engine, &graph).await;
    assert!(rows.len() > 1, "{rows:?}");
    // Somebody works on one of the runs, whose pieces stay listed meanwhile.
    let mut busy = engine.pool().begin().await.unwrap();
    sqlx::query("select from flow.run where run_id = $1 for update").bind(runs[0]).execute(&mut *busy).await.unwrap();
    let mut all = tidy_up(engine.pool(), before, runs[1]).await;
    for _ in 0..2 {
        let (pool, rows) = (engine.pool().clone(), rows.clone());
        all.spawn(async move {
            loop {
                for (worker, row) in &rows {
                    let recover = "select r.p_is_done from flow.recover_hand($1, $2) r";
                    sqlx::query(recover).bind(worker).bind(row).execute(&pool).await.unwrap();
                }
                let left = "select count(*) from flow.hand h";
                if sqlx::query_scalar::<_, i64>(left).fetch_one(&pool).await.unwrap() == 0 {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    }
    let listed = "select coalesce(sum(cardinality(h.runs)), 0)::bigint from flow.hand h";
    eventually("the other run's pieces are listed no more", async || {
        engine.value::<i64>(listed).await <= i64::from(PIECES)
    })
    .await;
    assert_eq!(engine.value::<i64>(listed).await, i64::from(PIECES));
    assert_eq!(tasks(engine.pool(), runs[0]).await, format!("{PIECES} started/1"));
    busy.commit().await.unwrap();
    while let Some(done) = all.join_next().await {
        done.unwrap();
    }
    assert_eq!(tasks(engine.pool(), runs[0]).await, format!("{PIECES} queued/0"));
    let statuses = tasks(engine.pool(), runs[1]).await;
    assert!(!statuses.contains("queued") && !statuses.contains("started"), "{statuses}");
    engine.check().await;
    let heir = engine.worker(&graph).await;
    heir.complete_all(|claim| json!(claim.task)).await;
    assert_eq!(tasks(engine.pool(), runs[0]).await, format!("{PIECES} completed/1"));
    check(&engine, runs[0]).await;
}

// L1 L21
#[tokio::test]
async fn who_recovers_when_its_own_lease_is_late_gives_everything_back_once() {
    let graph = Graph::new("each").option("base_delay_ms", 0).map("m", "input", &[]);
    // The recoverer is late only, or is ended by a third process before, between or after what it recovers.
    for ended_after in [None, Some(0), Some(1), Some(2)] {
        let engine = Engine::with(&graph).await;
        let run = engine.start("each", json!([0, 1, 2, 3, 4, 5])).await;
        let (dead, late) = (engine.worker(&graph).await, engine.worker(&graph).await);
        let lost = [dead.claim(2).await, dead.claim(2).await].concat();
        let own = late.claim(1).await;
        engine.run_sql("update flow.process set lease_until = clock_timestamp() - interval '1 s'").await;
        let third = engine.worker(&graph).await;
        let end = async |process: i64| {
            let end = "select flow.end_process($1)";
            sqlx::query_scalar::<_, bool>(end).bind(process).fetch_one(engine.pool()).await.unwrap()
        };
        assert!(end(dead.process).await, "who is late may end another");
        let rows: Vec<i64> =
            engine.hands().await.into_iter().filter(|(worker, ..)| *worker == dead.id).map(|(_, row, _)| row).collect();
        assert_eq!(rows.len(), 2);
        for (done, row) in rows.into_iter().enumerate() {
            if ended_after == Some(done) {
                assert!(end(late.process).await);
            }
            engine.recover_row(dead.id, row).await;
            // The third one has found the same row, and comes too late for it.
            engine.recover_row(dead.id, row).await;
        }
        if ended_after == Some(2) {
            assert!(end(late.process).await);
        }
        let reply = late.exchange(10, &[own[0].complete(1)]).await;
        match ended_after {
            None => assert_eq!(
                (reply.state.as_str(), reply.verdicts, reply.claims),
                ("late", vec!["accepted".to_owned()], vec![])
            ),
            Some(_) => {
                assert_eq!((reply.state.as_str(), reply.verdicts), ("process_ended", vec!["lost".to_owned()]));
                assert_eq!(late.heartbeat(&own).await, ("process_ended".to_owned(), vec!["taken".to_owned()]));
                engine.recover().await;
            }
        }
        engine.check().await;
        assert!(
            dead.settle(&lost.iter().map(|claim| claim.complete(0)).collect::<Vec<_>>())
                .await
                .iter()
                .all(|v| v == "lost")
        );
        // Its own piece was lost alone, so it has used an attempt; the others were lost in company.
        let second = i64::from(ended_after.is_some());
        third.complete_all(|claim| json!(claim.task)).await;
        let attempts = "select count(*) from flow.task t where t.status = 'completed' and t.attempt = $1";
        for (attempt, expected) in [(1, 6 - second), (2, second)] {
            let found: i64 = sqlx::query_scalar(attempts).bind(attempt).fetch_one(engine.pool()).await.unwrap();
            assert_eq!(found, expected, "attempt {attempt}, {ended_after:?}");
        }
        assert_eq!(engine.run(run).await["status"], "completed");
        let errors: i64 = engine.value("select count(*) from flow.attempt_error").await;
        assert_eq!(errors, 4 + second);
        engine.check().await;
    }
}
