//! Starts that hand over: the first steps of a run begin in the hands of a worker of the program that starts it, without a message.

use flow_tests::support::{Engine, Graph};
use serde_json::{Value, json};
use uuid::Uuid;

/// Two first steps and one behind them.
fn pair() -> Graph {
    Graph::new("pair").single("a", &[]).single("b", &[]).single("c", &["a", "b"])
}

async fn with(graph: &Graph) -> Engine {
    let engine = Engine::with_connections(4).await;
    engine.deploy(graph).await;
    engine
}

fn inputs(count: usize) -> Vec<Value> {
    (0..count).map(|input| json!(input)).collect()
}

// R2 C13
#[tokio::test]
async fn a_start_hands_out_as_many_first_steps_as_there_are_slots() {
    let graph = pair();
    let engine = with(&graph).await;
    let worker = engine.worker(&graph).await;
    for (runs, slots, key) in
        [(1, 9, None), (1, 2, None), (1, 1, None), (3, 9, None), (3, 5, None), (3, 1, None), (1, 1, Some("k"))]
    {
        let start = worker.start("pair", slots);
        let started = match key {
            Some(key) => start.key(key).of(&inputs(runs)).await,
            None => start.of(&inputs(runs)).await,
        };
        let handed = (runs * 2).min(usize::try_from(slots).unwrap());
        assert_eq!(started.claims.len(), handed, "{runs} runs, {slots} slots");
        for claim in &started.claims {
            let input = started.runs.iter().position(|run| *run == claim.run).unwrap();
            assert_eq!((claim.attempt, claim.values.as_slice()), (1, &[(-1, json!(input))][..]));
        }
        assert_eq!(started.tell_queues.is_empty(), handed == runs * 2, "who waits for what was handed out?");
        assert_eq!(usize::try_from(engine.messages().await).unwrap(), runs * 2 - handed);
        engine.check().await;
        worker.complete_all(|_| json!(1)).await;
        let settled = started.claims.iter().map(|claim| claim.complete(1)).collect::<Vec<_>>();
        assert!(worker.settle(&settled).await.iter().all(|verdict| verdict == "accepted"));
        worker.complete_all(|_| json!(1)).await;
        let open = engine.value::<i64>("select count(*) from flow.run r where r.status <> 'completed'").await;
        assert_eq!(open, 0);
        engine.check().await;
    }
}

// R2
#[tokio::test]
async fn a_queue_of_pgmq_hands_over_as_well() {
    let graph = pair();
    let engine = Engine::of_pgmq().await;
    engine.deploy(&graph).await;
    let worker = engine.worker(&graph).await;
    let started = worker.start("pair", 1).of(&inputs(1)).await;
    assert_eq!((started.claims.len(), engine.messages().await), (1, 1));
    engine.check().await;
}

// R2
#[tokio::test]
async fn what_may_not_be_handed_out_by_a_start_gets_a_message() {
    let single = || Graph::new("one").single("a", &[]);
    let mapped = || Graph::new("one").map("m", "input", &[]).single("a", &[]);
    let nothing = "select 1";
    let late = "update flow.process set lease_until = clock_timestamp()";
    let ended = "update flow.process set ended_at = clock_timestamp()";
    let cases = [
        (single().step_option("start_delay_ms", 60_000), nothing, json!(1), "a delay"),
        (single().with("run_if", json!({"a": 1})).with("when_unmet", "skip"), nothing, json!({"a": 1}), "a condition"),
        (mapped(), nothing, json!([]), "an empty map"),
        (single(), "select flow.pause_queue('one', 'a test')", json!(1), "a paused queue"),
        (
            single(),
            "insert into flow.worker_name (name, disabled_at) values ('hand', now())",
            json!(1),
            "a disabled name",
        ),
        (single(), "update flow.worker set draining_at = now()", json!(1), "a worker that drains"),
        (single(), "update flow.worker set stopped_at = now()", json!(1), "a worker that has stopped"),
        (single(), "update flow.worker set steps = '{7}'", json!(1), "another step"),
        (single(), "update flow.worker set process_id = process_id + 1", json!(1), "another process"),
        (single(), late, json!(1), "a lease that is over"),
        (single(), ended, json!(1), "a process that was ended"),
        (single(), nothing, json!("1e7"), "nothing"),
    ];
    for (graph, before, input, why) in cases {
        let engine = with(&graph).await;
        let worker = engine.worker(&graph).await;
        engine.run_sql(before).await;
        let started = worker.start("one", 9).of(std::slice::from_ref(&input)).await;
        let expected = usize::from(why == "nothing");
        assert_eq!(started.claims.len(), expected, "{why}");
        let waiting = engine
            .value::<i64>("select count(*) from flow.step_state s where s.worker_id is null and s.status = 'started'");
        assert_eq!(waiting.await > 0, expected == 0, "{why}");
    }
}

// R2
#[tokio::test]
async fn a_run_that_is_due_later_is_not_handed_out() {
    let graph = pair();
    let engine = with(&graph).await;
    let worker = engine.worker(&graph).await;
    let started = worker.start("pair", 9).later("1 minute").of(&inputs(1)).await;
    assert_eq!((started.claims.len(), engine.messages().await), (0, 2));
    let due = worker.start("pair", 9).later("-1 minute").of(&inputs(1)).await;
    assert_eq!((due.claims.len(), engine.messages().await), (2, 2));
    engine.check().await;
}

// L6
#[tokio::test]
async fn a_start_tries_the_lock_of_its_process_and_holds_it_to_its_end() {
    let graph = pair();
    let engine = with(&graph).await;
    let worker = engine.worker(&graph).await;
    let mut other = engine.pool().begin().await.unwrap();
    let lock = "select pg_advisory_xact_lock($1)";
    sqlx::query(lock).bind(worker.process).execute(&mut *other).await.unwrap();
    let started = worker.start("pair", 9).of(&inputs(1)).await;
    assert_eq!((started.claims.len(), engine.messages().await), (0, 2), "somebody looks whether the process lives");
    other.rollback().await.unwrap();

    let mut open = engine.pool().begin().await.unwrap();
    let started = worker.start("pair", 9).over(&mut *open, &[Uuid::now_v7()], &inputs(1)).await;
    assert_eq!(started.claims.len(), 2);
    engine.expire_leases().await;
    let ended = "select count(*) from flow.process p where p.ended_at is not null";
    assert_eq!(engine.value::<i64>(ended).await, 0, "ended in the middle of a start");
    open.commit().await.unwrap();
    engine.end_leases().await;
    assert_eq!(engine.tasks(started.runs[0]).await, "a.0=queued/0 b.0=queued/0", "lost together");
    engine.check().await;
}

// L17 L23
#[tokio::test]
async fn a_lost_reply_of_a_start_is_answered_with_what_is_still_held() {
    let graph = pair();
    let engine = with(&graph).await;
    let worker = engine.worker(&graph).await;
    let ids = [Uuid::now_v7(), Uuid::now_v7()];
    let start = worker.start("pair", 3);
    let first = start.runs(&ids, &inputs(2)).await;
    assert_eq!(first.claims.len(), 3);
    let start = start.again();
    let again = start.runs(&ids, &inputs(2)).await;
    assert_eq!((again.runs, &again.claims), (first.runs.clone(), &first.claims));
    assert!(!again.tell_queues.is_empty(), "nobody has told of what waits");
    assert_eq!(engine.messages().await, 1);
    // What is not held any more is not handed out again.
    worker.accept(first.claims[0].complete(1)).await;
    assert_eq!(start.runs(&ids, &inputs(2)).await.claims, first.claims[1..]);
    worker.heartbeat(&first.claims[2..]).await;
    assert_eq!(start.runs(&ids, &inputs(2)).await.claims, first.claims[2..]);
    // A run that was there before is no work of a new start.
    assert!(worker.start("pair", 9).runs(&ids[..1], &inputs(1)).await.claims.is_empty());
    engine.check().await;
}

// L17 L23
#[tokio::test]
async fn a_repeat_whose_first_try_never_arrived_hands_nothing_out() {
    let graph = pair();
    let engine = with(&graph).await;
    let worker = engine.worker(&graph).await;
    let ids = [Uuid::now_v7()];
    let start = worker.start("pair", 9);
    let again = start.again();
    let started = again.runs(&ids, &inputs(1)).await;
    assert_eq!((started.claims.len(), engine.messages().await), (0, 2));
    engine.check().await;
}

// L17
#[tokio::test]
async fn numbers_of_starts_and_exchanges_may_be_committed_in_any_order() {
    let graph = pair();
    let engine = with(&graph).await;
    let worker = engine.worker(&graph).await;
    let (run, late) = (engine.start("pair", 1).await, worker.start("pair", 1));
    let early = late.batch() + 1_000;
    // An exchange with a number above the start's comes first, and then one with a number below.
    let reply = worker.exchange_as(early, 1, &[], &[]).await.unwrap();
    assert_eq!(reply.claims.len(), 1);
    let handed = late.of(&inputs(1)).await.claims;
    assert_eq!(handed.len(), 1, "a start is a repeat by its run, not by its number");

    let other = engine.worker(&graph).await;
    let start = other.start("pair", 1);
    let first = start.of(&inputs(1)).await;
    let below = other.exchange_as(start.batch() - 1, 1, &[first.claims[0].complete(1)], &[]).await.unwrap();
    assert_eq!(
        (below.verdicts, below.claims.len()),
        (vec!["accepted".to_owned()], 1),
        "an exchange is a repeat by those of exchanges"
    );
    let again = other.exchange_as(start.batch() - 1, 1, &[], &[]).await.unwrap();
    assert_eq!(again.claims, below.claims);
    // A start's row goes when it is finished; the newest of an exchange stays.
    other.exchange_as(start.batch() + 1, 0, &[], &[start.batch(), start.batch() - 1]).await.unwrap();
    let rows: Vec<_> = engine.hands().await.into_iter().filter(|row| row.0 == other.id).map(|row| row.1).collect();
    assert_eq!(rows, [start.batch() - 1]);
    assert!(engine.tasks(run).await.contains("started"));
    engine.check().await;
}

// L17 L23
#[tokio::test]
async fn a_start_that_nobody_waits_for_is_given_back_by_the_next_heartbeat() {
    let graph = pair();
    let engine = with(&graph).await;
    let worker = engine.worker(&graph).await;
    let start = worker.start("pair", 9);
    let started = start.of(&inputs(1)).await;
    worker.heartbeat_with(&[], Some(start.batch()), &[]).await;
    assert_eq!(engine.messages().await, 0, "its reply is still to come");
    let known = engine.hand(worker.id);
    known.heartbeat(&[]).await;
    assert_eq!(engine.messages().await, 0, "the heartbeat was composed before the start had its number");
    worker.heartbeat(&started.claims[..1]).await;
    assert_eq!(
        (engine.messages().await, engine.tasks(started.runs[0]).await.as_str()),
        (1, "a.0=started/1 b.0=queued/0")
    );
    engine.check().await;
}

// L4 L19
#[tokio::test]
async fn what_a_start_has_handed_out_is_recovered_like_any_other() {
    let graph = pair();
    let engine = with(&graph).await;
    let worker = engine.worker(&graph).await;
    let started = worker.start("pair", 1).of(&inputs(1)).await;
    engine.end_leases().await;
    assert_eq!(engine.tasks(started.runs[0]).await, "a.0=queued/1 b.0=queued/0");

    // The worker stops between the start's look and its commit.
    let worker = engine.worker(&graph).await;
    let mut open = engine.pool().begin().await.unwrap();
    let started = worker.start("pair", 9).over(&mut *open, &[Uuid::now_v7()], &inputs(1)).await;
    assert_eq!(started.claims.len(), 2);
    sqlx::query("select flow.stop_worker($1)").bind(worker.id).execute(engine.pool()).await.unwrap();
    open.commit().await.unwrap();
    engine.recover().await;
    assert_eq!(engine.tasks(started.runs[0]).await, "a.0=queued/0 b.0=queued/0");
    engine.check().await;
}

// L5
#[tokio::test]
async fn a_process_that_a_suspect_keeps_closed_is_handed_nothing() {
    let graph = pair();
    let engine = with(&graph).await;
    let run = engine.start("pair", 1).await;
    let lost = engine.worker(&graph).await;
    assert_eq!(lost.claim(2).await.len(), 2);
    engine.end_leases().await;
    engine.run_sql("update flow.suspect set suspect_limit = 0").await;
    let worker = engine.worker(&graph).await;
    assert!(worker.start("pair", 9).of(&inputs(1)).await.claims.is_empty(), "the oldest suspect waits to be alone");
    let alone = worker.claim(9).await;
    assert_eq!(alone.len(), 1, "it is alone now");
    assert!(worker.start("pair", 9).of(&inputs(1)).await.claims.is_empty(), "it must stay alone");
    assert!(engine.tasks(run).await.contains("started"));
    engine.check().await;
}

// B19
#[tokio::test]
async fn rows_of_starts_are_folded_with_those_of_exchanges() {
    let graph = Graph::new("one").single("a", &[]);
    let engine = with(&graph).await;
    let worker = engine.worker(&graph).await;
    let mut held = Vec::new();
    for _ in 0..9 {
        held.extend(worker.start("one", 1).of(&inputs(1)).await.claims);
    }
    engine.start("one", 1).await;
    held.push(worker.claim_one().await);
    let hands = engine.hands().await;
    assert_eq!((hands.len(), hands[0].2.len()), (1, 10));
    worker.heartbeat(&held).await;
    let completed: Vec<_> = held.iter().map(|claim| claim.complete(1)).collect();
    assert!(worker.settle(&completed).await.iter().all(|verdict| verdict == "accepted"));
    engine.check().await;
}
