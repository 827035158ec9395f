//! Maps of more than ten thousand elements, whose tasks are created in pieces of a thousand.

use std::time::{Duration, Instant};

use flow_runtime::prelude::*;
use flow_tests::support::{Claim, Engine, Graph, Hand, TestDb};
use serde_json::{Value, json};
use uuid::Uuid;

/// How many elements the map has: two pieces and a half more than may be live at a time.
const ELEMENTS: usize = 12_500;

fn graph() -> Graph {
    Graph::new("large").option("base_delay_ms", 0).map("m", "input", &[]).single("s", &["m"])
}

fn numbers(count: usize) -> Value {
    (0..count).collect::<Vec<_>>().into()
}

/// A worker whose lease outlasts the test.
async fn worker_of<'a>(engine: &'a Engine, graph: &Graph) -> Hand<'a> {
    let process = engine.process(Duration::from_secs(600)).await;
    let steps: Vec<usize> = (0..graph.len()).collect();
    engine.worker_in(process, graph, graph.slug(), &steps).await
}

/// Live tasks, tasks that are there, and elements without one.
async fn window(engine: &Engine, run: Uuid) -> (i64, i64, i64) {
    let query = "select (select count(*) from flow.task t where t.run_id = $1 and t.status in ('queued', 'started')),
                        (select count(*) from flow.task t where t.run_id = $1),
                        (select ss.uncreated_tasks::bigint from flow.step_state ss where ss.run_id = $1 and ss.step_index = 0)";
    sqlx::query_as(query).bind(run).fetch_one(engine.pool()).await.unwrap()
}

/// Claims `count` tasks and completes each with its element.
async fn complete(worker: &Hand<'_>, count: usize) {
    let mut left = count;
    let mut claims: Vec<Claim> = Vec::new();
    while left > 0 || !claims.is_empty() {
        let limit = left.min(1_000);
        let settled: Vec<_> = claims.iter().map(|claim| claim.complete(claim.item.clone().unwrap())).collect();
        let reply = worker.exchange(i32::try_from(limit).unwrap(), &settled).await;
        assert!(reply.verdicts.iter().all(|verdict| verdict == "accepted"));
        claims = reply.claims;
        left -= claims.len();
    }
}

/// Works the rest off; returns the output of the run's last step, which gives the map's output back.
async fn finish(engine: &Engine, worker: &Hand<'_>, run: Uuid) -> Value {
    let mut settled = Vec::new();
    loop {
        let reply = worker.exchange(1_000, &settled).await;
        if reply.claims.is_empty() {
            break;
        }
        settled = reply
            .claims
            .iter()
            .map(|claim| claim.complete(claim.item.clone().or_else(|| claim.dep(0).cloned()).unwrap()))
            .collect();
    }
    let (status, output) = engine.result(run).await;
    assert_eq!(status, "completed");
    output["s"].clone()
}

// M19 M15
#[tokio::test]
async fn a_large_map_is_filled_by_its_settlements() {
    let graph = graph();
    let engine = Engine::with(&graph).await;
    let run = engine.start("large", numbers(ELEMENTS)).await;
    assert_eq!(window(&engine, run).await, (10_000, 10_000, 2_500));
    engine.check().await;
    engine.run_sql("update flow.run set input = '[]'").await;
    // Another worker than the one that the first tasks were for goes on.
    complete(&worker_of(&engine, &graph).await, 999).await;
    assert_eq!(window(&engine, run).await, (9_001, 10_000, 2_500));
    let worker = worker_of(&engine, &graph).await;
    complete(&worker, 1).await;
    assert_eq!(window(&engine, run).await, (10_000, 11_000, 1_500));
    engine.check().await;
    complete(&worker, 2_000).await;
    assert_eq!(window(&engine, run).await, (9_500, 12_500, 0));
    engine.check().await;
    let progress = "select concat_ws(' ', tasks_done, tasks_known) from flow.run_progress($1)";
    let progress: String = sqlx::query_scalar(progress).bind(run).fetch_one(engine.pool()).await.unwrap();
    assert_eq!(progress, "3000 12500");
    assert_eq!(finish(&engine, &worker, run).await, numbers(ELEMENTS));
    engine.check().await;
}

// M19
#[tokio::test]
async fn the_tasks_of_a_large_map_wait_for_its_delay() {
    let graph = Graph::new("late").map("m", "input", &[]).step_option("start_delay_ms", 60_000);
    let engine = Engine::with(&graph).await;
    engine.start("late", numbers(ELEMENTS)).await;
    assert_eq!(worker_of(&engine, &graph).await.claim(10).await, []);
    assert_eq!((engine.messages().await, engine.visible().await), (10_000, 0));
    engine.check().await;
}

// M20 M15
#[tokio::test]
async fn a_large_map_that_was_ended_goes_on_where_it_stopped() {
    let graph = graph();
    let engine = Engine::with(&graph).await;
    let first = engine.start("large", numbers(ELEMENTS)).await;
    let worker = worker_of(&engine, &graph).await;
    complete(&worker, 1_500).await;
    let held = worker.claim(10).await;
    assert_eq!(engine.cancel(first).await, "cancelled");
    assert_eq!((window(&engine, first).await.0, engine.messages().await), (0, 0));
    engine.check().await;
    engine.run_sql("update flow.run set input = '[]'").await;

    // It is retried, fails, and is retried once more.
    let second: Uuid =
        sqlx::query_scalar("select flow.retry_run($1)").bind(first).fetch_one(engine.pool()).await.unwrap();
    assert_eq!(window(&engine, second).await, (9_500, 9_500, 1_500));
    engine.check().await;
    complete(&worker, 1_000).await;
    let broken = worker.claim(1).await;
    assert_eq!(worker.settle(&[broken[0].fail_for_good("no")]).await, ["accepted"]);
    assert_eq!(engine.run(second).await["status"], "failed");
    engine.check().await;
    let third: Uuid =
        sqlx::query_scalar("select flow.retry_run($1)").bind(second).fetch_one(engine.pool()).await.unwrap();
    engine.check().await;
    assert_eq!(worker.settle(&[held[0].complete(1)]).await, ["lost"]);

    // What the last one counts on is not pruned before it has ended.
    engine.run_sql("update flow.run set started_at = started_at - interval '2 h', ended_at = ended_at - interval '1 h' where ended_at is not null").await;
    engine.run_sql("select flow.prune(clock_timestamp() - interval '1 min')").await;
    assert_eq!(engine.value::<i64>("select count(*) from flow.run").await, 3);
    assert_eq!(finish(&engine, &worker, third).await, numbers(ELEMENTS));
    engine.check().await;
    while engine.value::<bool>("select p.has_more from flow.prune(clock_timestamp() + interval '1 s') p").await {}
    for table in ["run", "step_state", "task", "piece", "attempt_error"] {
        let count: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(format!("select count(*) from flow.{table}")))
            .fetch_one(engine.pool())
            .await
            .unwrap();
        assert_eq!(count, 0, "{table}");
    }
}

// M20
#[tokio::test]
async fn a_skipped_large_map_ends_with_its_window() {
    let graph = Graph::new("skips")
        .option("max_attempts", 1)
        .map("m", "input", &[])
        .with("when_exhausted", "skip")
        .single("s", &["m"]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("skips", numbers(ELEMENTS)).await;
    let worker = worker_of(&engine, &graph).await;
    complete(&worker, 10).await;
    let broken = worker.claim(1).await;
    assert_eq!(worker.settle(&[broken[0].fail("no")]).await, ["accepted"]);
    assert_eq!(engine.steps(run).await, "m=skipped:handler_failed s=started");
    assert_eq!((window(&engine, run).await.0, engine.messages().await), (0, 1));
    engine.check().await;
    let last = worker.claim_one().await;
    worker.accept(last.complete(json!(1))).await;
    assert_eq!(engine.run(run).await["status"], "completed");
    engine.check().await;
}

/// How many pages a query reads.
async fn pages(engine: &Engine, query: &str, run: Uuid) -> i64 {
    let explain = format!("explain (analyze, buffers, format json) {query}");
    let plan: Value =
        sqlx::query_scalar(sqlx::AssertSqlSafe(explain)).bind(run).fetch_one(engine.pool()).await.unwrap();
    plan[0]["Plan"]["Shared Hit Blocks"].as_i64().unwrap() + plan[0]["Plan"]["Shared Read Blocks"].as_i64().unwrap()
}

// K24
#[tokio::test]
async fn cancelling_and_retrying_a_large_run_look_at_what_is_live() {
    let graph = graph();
    let mut seen = Vec::new();
    for done in [2_000, 12_000] {
        let engine = Engine::with(&graph).await;
        let run = engine.start("large", numbers(25_000)).await;
        engine.run_sql("update flow.run set input = '[]'").await;
        complete(&worker_of(&engine, &graph).await, done).await;
        engine.run_sql("vacuum analyze flow.task").await;
        let cancel = pages(&engine, "select flow.cancel_run($1)", run).await;
        assert_eq!(window(&engine, run).await.0, 0);
        let retry = pages(&engine, "select flow.retry_run($1)", run).await;
        seen.push((cancel, retry));
    }
    println!("pages of a cancel and a retry after 2,000 and 12,000 of 25,000 tasks: {seen:?}");
    let ((few_cancel, few_retry), (many_cancel, many_retry)) = (seen[0], seen[1]);
    assert!(many_cancel * 10 < few_cancel * 13 && many_retry * 10 < few_retry * 13, "{seen:?}");
}

/// Passes each number on.
struct PassOn;

#[flow(input = Vec<u32>)]
impl PassOn {
    #[map(over = input)]
    async fn each(&self, item: u32) -> Result<u32, StepError> {
        Ok(item)
    }
}

async fn seconds(elements: u32) -> f64 {
    let test_db = TestDb::new().await;
    let db = Db::new(test_db.url()).unwrap();
    let worker = Worker::builder(&db).flow(PassOn).build().unwrap().start().await.unwrap();
    let input: Vec<u32> = (0..elements).collect();
    let began_at = Instant::now();
    let run = Client::new(&db).start::<PassOn>(&input).await.unwrap();
    assert_eq!(run.wait().await.unwrap().each, input);
    let took = began_at.elapsed().as_secs_f64();
    worker.shutdown().await.unwrap();
    took
}

// B20
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_of_a_huge_map_costs_what_one_of_ten_thousand_does() {
    let mut seen = Vec::new();
    for _ in 0..4 {
        let mut small = [seconds(10_000).await, seconds(10_000).await, seconds(10_000).await];
        small.sort_by(f64::total_cmp);
        let ratio = seconds(200_000).await / 20.0 / small[1];
        println!("a task of a map of 200,000 against one of 10,000: {ratio:.2} (limit 1.3)");
        if ratio <= 1.3 {
            return;
        }
        seen.push(ratio);
    }
    panic!("a task of a map of 200,000 took {seen:.2?} times one of 10,000; the limit is 1.3");
}
