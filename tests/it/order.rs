//! In which order a queue of rows delivery is worked, what a read sees, and what delayed work costs.

use std::time::Duration;

use flow_tests::support::{Claim, Engine, Graph};
use serde_json::{Value, json};
use uuid::Uuid;

fn one() -> Graph {
    Graph::new("one").option("base_delay_ms", 0).single("a", &[])
}

async fn engine_with(graph: &Graph) -> Engine {
    let engine = Engine::of_rows().await;
    engine.deploy(graph).await;
    engine
}

/// Starts a run that was due so many seconds ago.
async fn start_aged(engine: &Engine, slug: &str, input: impl Into<Value>, seconds: i32) -> Uuid {
    let run = engine.start(slug, input).await;
    for change in [
        "update flow.step_state set age = age - $2 * interval '1 s' where run_id = $1",
        "update flow.message set age = age - $2 * interval '1 s' where run_id = $1",
    ] {
        sqlx::query(change).bind(run).bind(seconds).execute(engine.pool()).await.unwrap();
    }
    run
}

fn runs(claims: &[Claim]) -> Vec<Uuid> {
    claims.iter().map(|claim| claim.run).collect()
}

// C15
#[tokio::test]
async fn work_is_claimed_by_priority_and_then_by_age() {
    let graph = Graph::new("mixed").single("low", &[]).single("high", &[]).single("usual", &[]);
    let engine = engine_with(&graph).await;
    engine.run_sql("update flow.step set priority = case slug when 'low' then 9 when 'high' then 1 else 5 end").await;
    let young = engine.start("mixed", 1).await;
    let old = start_aged(&engine, "mixed", 2, 60).await;
    let worker = engine.worker(&graph).await;
    let order: Vec<(Uuid, i32)> = worker.claim(10).await.iter().map(|claim| (claim.run, claim.step)).collect();
    assert_eq!(order, [(old, 1), (young, 1), (old, 2), (young, 2), (old, 0), (young, 0)]);
    engine.check().await;
}

// D26 C15
#[tokio::test]
async fn a_steps_priority_orders_what_a_worker_claims_from_the_next_start_on() {
    let graph = |urgent: &str| {
        let steps = ["late", "usual", "soon"].iter();
        steps.fold(Graph::new("mixed"), |graph, slug| {
            let graph = graph.single(slug, &[]);
            if *slug == urgent { graph.step_option("priority", 1) } else { graph }
        })
    };
    let late = graph("soon").single("last", &["usual"]).step_option("priority", 9);
    let engine = engine_with(&late).await;
    let run = engine.start("mixed", 1).await;
    let worker = engine.worker(&late).await;
    let order =
        async || -> Vec<(Uuid, i32)> { worker.claim(10).await.iter().map(|claim| (claim.run, claim.step)).collect() };
    assert_eq!(order().await, [(run, 2), (run, 0), (run, 1)]);

    // What waits keeps its place; what is started later has the new one.
    let before = engine.start("mixed", 2).await;
    let changed = graph("late").single("last", &["usual"]).step_option("priority", 9);
    assert_eq!(engine.try_deploy(&changed.definition()).await.unwrap()["result"], "options_updated");
    let after = engine.start("mixed", 3).await;
    assert_eq!(
        order().await,
        [(before, 2), (after, 0), (before, 0), (before, 1), (after, 1), (after, 2)],
        "both are urgent, and of the rest the older run comes first"
    );
    engine.check().await;
}

// D26
#[tokio::test]
async fn the_tasks_of_a_map_and_what_a_result_makes_ready_have_their_steps_priority() {
    let graph = Graph::new("behind").single("a", &[]).map("each", "input", &[]).step_option("priority", 2);
    let graph = graph.single("b", &["a"]).step_option("priority", 1);
    let engine = engine_with(&graph).await;
    engine.start("behind", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let first = worker.claim(3).await;
    assert_eq!(first.iter().map(|claim| claim.step).collect::<Vec<_>>(), [1, 1, 0]);
    let other = engine.start("behind", json!([3])).await;
    let reply = worker.exchange(1, &[first[2].complete(1)]).await;
    assert_eq!(reply.claims.iter().map(|claim| claim.step).collect::<Vec<_>>(), [2], "before the other run's map");
    assert_eq!(runs(&worker.claim(1).await), [other]);
    engine.check().await;
}

// C15
#[tokio::test]
async fn older_runs_end_first() {
    let graph = Graph::new("pair").single("a", &[]).single("b", &["a"]);
    let engine = engine_with(&graph).await;
    let young = engine.start("pair", 1).await;
    let old = start_aged(&engine, "pair", 2, 60).await;
    let worker = engine.worker(&graph).await;
    let first = worker.claim(1).await;
    assert_eq!(runs(&first), [old]);
    // Its second step comes before the first step of the younger run: handed out, and behind a message that is older still too.
    let oldest = start_aged(&engine, "pair", 3, 120).await;
    let reply = worker.exchange(2, &[first[0].complete(1)]).await;
    assert_eq!(reply.claims.iter().map(|claim| (claim.run, claim.step)).collect::<Vec<_>>(), [(oldest, 0), (old, 1)]);
    let last = worker.claim(10).await;
    assert_eq!(runs(&last), [young]);
    engine.check().await;
}

// C15
#[tokio::test]
async fn work_that_comes_back_keeps_its_place() {
    let graph = one();
    let engine = engine_with(&graph).await;
    let old = start_aged(&engine, "one", 1, 60).await;
    for way in ["retried", "released", "taken over"] {
        let young = engine.start("one", way).await;
        let worker = engine.worker(&graph).await;
        let held = worker.claim(1).await;
        assert_eq!(runs(&held), [old], "{way}");
        match way {
            "retried" => worker.accept(held[0].fail("once")).await,
            "released" => assert_eq!(worker.release(&held).await, [true]),
            _ => engine.end_leases().await,
        }
        let next = engine.worker(&graph).await;
        let both = next.claim(10).await;
        assert_eq!(runs(&both), [old, young], "{way}");
        next.accept(both[1].complete(1)).await;
        assert_eq!(next.release(&both[..1]).await, [true]);
        engine.check().await;
    }
}

// C15
#[tokio::test]
async fn the_tasks_of_a_map_are_as_old_as_their_enqueueing_and_come_in_order() {
    let graph = Graph::new("list").single("a", &[]).map("m", "a", &[]);
    let engine = engine_with(&graph).await;
    let old = start_aged(&engine, "list", 1, 60).await;
    let worker = engine.worker(&graph).await;
    let first = worker.claim_one().await;
    let between = engine.start("list", 2).await;
    worker.accept(first.complete(json!([0, 1, 2]))).await;
    let claims = worker.claim(10).await;
    let order: Vec<_> = claims.iter().map(|claim| (claim.run, claim.step, claim.task)).collect();
    assert_eq!(order, [(between, 0, 0), (old, 1, 0), (old, 1, 1), (old, 1, 2)]);
    engine.check().await;
}

/// A read from a mark meets only what lies behind it; what waits before it is met by a read in full.
#[tokio::test]
async fn a_read_from_a_mark_leaves_what_lies_before_it() {
    let graph = one();
    let engine = engine_with(&graph).await;
    let mut started = Vec::new();
    for input in 0..4 {
        started.push(engine.start("one", input).await);
    }
    let worker = engine.worker(&graph).await;
    let reply = worker.exchange(2, &[]).await;
    assert_eq!((runs(&reply.claims).as_slice(), reply.has_more), (&started[..2], true));
    let old = start_aged(&engine, "one", 4, 60).await;
    let behind = worker.exchange_from(&reply.read, 10, &[]).await;
    assert_eq!((runs(&behind.claims).as_slice(), behind.has_more), (&started[2..], false));
    let everything = worker.exchange(10, &[]).await;
    assert_eq!(runs(&everything.claims), [old]);
    // Nothing was read, so there is no new mark.
    assert_eq!(worker.exchange_from(&behind.read, 10, &[]).await.read, []);
    engine.check().await;
}

// C16
#[tokio::test]
async fn delayed_work_is_due_when_its_time_has_come_and_not_before() {
    let graph = Graph::new("one").option("max_attempts", 9).single("a", &[]);
    let engine = engine_with(&graph).await;
    let old = start_aged(&engine, "one", 1, 60).await;
    let worker = engine.worker(&graph).await;
    let held = worker.claim_one().await;
    let reply = worker.exchange(10, &[held.fail_for("later", Duration::from_secs(30))]).await;
    assert_eq!(reply.claims, []);
    assert!((29_000..=30_000).contains(&reply.next_due_ms.unwrap()), "{:?}", reply.next_due_ms);
    let young = engine.start("one", 2).await;
    engine.run_sql("select test.make_due()").await;
    let reply = worker.exchange(10, &[]).await;
    assert_eq!((runs(&reply.claims), reply.next_due_ms), (vec![old, young], None));
    engine.check().await;
}

// C16
#[tokio::test]
async fn a_crowd_of_due_work_is_moved_in_pieces_and_cancelled_wherever_it_is() {
    let graph = Graph::new("many").map("m", "input", &[]).step_option("start_delay_ms", 60_000);
    let engine = engine_with(&graph).await;
    let run = engine.start("many", vec![0; 2_500]).await;
    let worker = engine.worker(&graph).await;
    assert_eq!(worker.claim(1).await, []);
    engine.run_sql("select test.make_due()").await;
    assert_eq!(worker.claim(1).await.len(), 1);
    let places = "select concat((select count(*) from flow.message), '/', (select count(*) from flow.delayed))";
    assert_eq!(engine.words(places).await, "999/1500");
    assert_eq!(worker.claim(1).await.len(), 1);
    assert_eq!(engine.words(places).await, "1998/500");
    engine.check().await;
    assert_eq!(engine.cancel(run).await, "cancelled");
    assert_eq!(engine.words(places).await, "0/0");
    engine.check().await;
}

// K5
#[tokio::test]
async fn a_cancel_meets_what_is_being_moved() {
    let graph = Graph::new("one").single("a", &[]).step_option("start_delay_ms", 60_000);
    let engine = engine_with(&graph).await;
    let run = engine.start("one", 1).await;
    engine.run_sql("select test.make_due()").await;
    let mut moving = engine.pool().begin().await.unwrap();
    let queue = "select flow.move_due(q.queue_id, clock_timestamp()) from flow.queue q";
    sqlx::raw_sql(queue).execute(&mut *moving).await.unwrap();
    let cancelling = async {
        assert_eq!(engine.cancel(run).await, "cancelled");
    };
    let commit = async {
        flow_tests::support::eventually("the cancel waits for the mover", async || {
            engine.value::<i64>("select count(*) from pg_locks l where not l.granted").await > 0
        })
        .await;
        moving.commit().await.unwrap();
    };
    tokio::join!(cancelling, commit);
    assert_eq!(engine.messages().await, 0);
    engine.check().await;
}
