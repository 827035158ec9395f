//! Which moves the database makes: whatever is said about a piece of work in whatever status, the moves that come of it are exactly those
//! of the table of docs/states.md.

use std::{collections::BTreeSet, fmt::Display};

use flow_runtime::{RunStatus, StepStatus, TaskStatus};
use flow_tests::support::{Claim, Engine, Graph, Hand, Settle};
use serde_json::json;
use uuid::Uuid;

/// Every status that a task may have, and how it comes to it.
const STATUSES: [&str; 6] = ["queued", "started", "completed", "failed", "skipped", "cancelled"];

/// All that can happen to a task, or to its run.
const DEEDS: [&str; 15] = [
    "complete",
    "fail",
    "fail for good",
    "time out",
    "lease over",
    "release",
    "claim",
    "heartbeat",
    "past its timeout",
    "recover",
    "sibling fails",
    "cancel",
    "retry",
    "repair",
    "prune",
];

/// A map of two tasks, one step before it and one behind.
fn graph(when_exhausted: &str) -> Graph {
    let graph = Graph::new("moves").option("base_delay_ms", 0).option("max_attempts", 2).single("before", &[]);
    graph.map("m", "input", &["before"]).with("when_exhausted", when_exhausted).single("behind", &["m"])
}

/// A run whose first task of the map has come to a status.
struct Subject<'a> {
    engine: &'a Engine,
    worker: Hand<'a>,
    run: Uuid,
    /// The last claims of the two tasks.
    claims: Vec<Claim>,
}

impl<'a> Subject<'a> {
    async fn new(engine: &'a Engine, graph: &Graph, status: &str) -> Self {
        let run = engine.start("moves", json!([0, 1])).await;
        let worker = engine.worker(graph).await;
        let before = worker.claim_one().await;
        worker.accept(before.complete(1)).await;
        let claims = worker.claim(2).await;
        let mut subject = Self { engine, worker, run, claims };
        subject.claims.sort_by_key(|claim| claim.task);
        let (task, sibling) = (&subject.claims[0], &subject.claims[1]);
        match status {
            "queued" => assert_eq!(subject.worker.release(std::slice::from_ref(task)).await, [true]),
            "completed" => subject.worker.accept(task.complete(1)).await,
            "failed" => subject.worker.accept(task.fail_for_good("no")).await,
            "skipped" => subject.worker.accept(sibling.fail_for_good("no")).await,
            "cancelled" => drop(engine.cancel(run).await),
            _ => {}
        }
        subject
    }

    async fn happens(&self, deed: &str, graph: &Graph) {
        let Self { engine, worker, run, claims } = self;
        let (task, sibling) = (&claims[0], &claims[1]);
        let say = async |what: Settle| drop(worker.settle(&[what]).await);
        let ask = async |what: &'static str| {
            if let Err(error) = sqlx::query(what).bind(run).execute(engine.pool()).await {
                // The engine's own rules refuse some of it.
                assert!(error.as_database_error().unwrap().code().unwrap().starts_with("WF"), "{deed}: {error}");
            }
        };
        match deed {
            "complete" => say(task.complete(2)).await,
            "fail" => say(task.fail("again")).await,
            "fail for good" => say(task.fail_for_good("no")).await,
            "time out" => say(task.ended("timeout", Some("late"))).await,
            "lease over" => say(task.ended("lease_expired", Some("over"))).await,
            "release" => drop(worker.release(std::slice::from_ref(task)).await),
            "claim" => drop(engine.worker(graph).await.claim(10).await),
            "heartbeat" => drop(worker.heartbeat(&[]).await),
            "past its timeout" => {
                engine
                    .run_sql("update flow.task set claimed_at = claimed_at - interval '1 h' where status = 'started'")
                    .await;
                worker.heartbeat_with(&[task.clone(), sibling.clone()], None, &[0]).await;
            }
            "recover" => engine.end_leases().await,
            "sibling fails" => say(sibling.fail_for_good("no")).await,
            "cancel" => ask("select flow.cancel_run($1)").await,
            "retry" => ask("select flow.retry_run($1)").await,
            "repair" => ask("select flow.repair_queue('moves') where $1::uuid is not null").await,
            "prune" => ask("select flow.prune(clock_timestamp()) where $1::uuid is not null").await,
            other => panic!("no such deed: {other}"),
        }
    }
}

/// The moves that the table allows, as `test.move` has them.
fn legal<T: Copy + Display + 'static>(kind: &str, all: &[T], next: impl Fn(T) -> &'static [T]) -> Vec<String> {
    all.iter().flat_map(|from| next(*from).iter().map(move |to| format!("{kind} {from} {to}"))).collect()
}

// I14
#[tokio::test]
async fn the_database_makes_exactly_the_moves_of_the_table() {
    let engine = Engine::new().await;
    engine.make_broken_rows().await;
    engine.run_sql(include_str!("../sql/record_moves.sql")).await;
    for mode in ["fail", "skip", "skip_cascade"] {
        for status in STATUSES {
            // A task is skipped with its step alone.
            if mode == "fail" && status == "skipped" {
                continue;
            }
            for deed in DEEDS {
                let graph = graph(mode);
                engine.deploy(&graph).await;
                let subject = Subject::new(&engine, &graph, status).await;
                let is =
                    "select t.status::text from flow.tasks t where t.run_id = $1 and t.step = 'm' and t.task_index = 0";
                let is: String = sqlx::query_scalar(is).bind(subject.run).fetch_one(engine.pool()).await.unwrap();
                assert_eq!(is, status, "{mode}");
                subject.happens(deed, &graph).await;
                let broken = engine.broken_rows().await;
                assert!(broken.is_empty(), "{deed} when {status} under {mode}: {broken:?}");
                engine.run_sql("select flow.delete_flow('moves', true)").await;
            }
        }
    }
    // What no task brings about: a run that ends well, a map without elements, and conditions that are not met.
    let graph = Graph::new("ends").single("a", &[]).map("m", "a", &[]).single("last", &["m"]);
    engine.deploy(&graph).await;
    engine.start("ends", json!(1)).await;
    engine.worker(&graph).await.complete_all(|_| json!([])).await;
    for when_unmet in ["skip", "fail"] {
        let graph = Graph::new(&format!("unmet_{when_unmet}")).single("a", &[]).single("b", &["a"]);
        let graph = graph.with("run_if", json!({"a": 2})).with("when_unmet", when_unmet);
        engine.deploy(&graph).await;
        engine.start(graph.slug(), json!(1)).await;
        engine.worker(&graph).await.complete_all(|_| json!(1)).await;
    }

    let seen: Vec<String> = sqlx::query_scalar("select concat_ws(' ', m.kind, m.before, m.after) from test.move m")
        .fetch_all(engine.pool())
        .await
        .unwrap();
    let mut expected = legal("run", RunStatus::ALL, RunStatus::next);
    expected.extend(legal("step", StepStatus::ALL, StepStatus::next));
    expected.extend(legal("task", TaskStatus::ALL, TaskStatus::next));
    let set = |moves: Vec<String>| moves.into_iter().collect::<BTreeSet<_>>();
    assert_eq!(set(seen), set(expected));
}
