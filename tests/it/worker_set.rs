//! Step queues: a pool a step, several in one process.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use flow_runtime::{FlowBuilder, JsonFlow, JsonHandler, Pool, StepBuilder, prelude::*, with_step_queues};
use flow_tests::support::{Engine, Graph, Log, TestDb, eventually};
use serde_json::json;
use tokio::sync::Semaphore;

const SECOND: Duration = Duration::from_secs(1);

/// Counts how many of each step run at once; `slow` waits for permits.
#[derive(Default)]
struct Pools {
    quick: Gauge,
    slow: Gauge,
}

struct Gauge {
    running: AtomicUsize,
    most: AtomicUsize,
    permits: Semaphore,
}

impl Default for Gauge {
    fn default() -> Self {
        Self { running: AtomicUsize::new(0), most: AtomicUsize::new(0), permits: Semaphore::new(0) }
    }
}

impl Gauge {
    async fn pass(&self) -> Result<(), StepError> {
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        self.permits.acquire().await?.forget();
        self.running.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    }
}

#[flow(input = Vec<u32>)]
impl Pools {
    #[map(over = input)]
    async fn slow(&self, item: u32) -> Result<u32, StepError> {
        self.slow.pass().await?;
        Ok(item)
    }

    #[map(over = input)]
    async fn quick(&self, item: u32) -> Result<u32, StepError> {
        self.quick.pass().await?;
        Ok(item)
    }

    #[step]
    async fn join(&self, slow: Vec<u32>, quick: Vec<u32>) -> Result<u32, StepError> {
        Ok(slow.iter().chain(&quick).sum())
    }
}

with_step_queues!(PoolsQueues for Pools);

// W7
#[tokio::test]
async fn a_set_runs_each_pool_with_its_own_slots() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let flow = Arc::new(Pools::default());
    let set = WorkerSet::builder(&db).pools(PoolsQueues::new(Arc::clone(&flow)), |step| match step {
        PoolsStep::Slow => Pool::slots(2),
        PoolsStep::Quick => Pool::slots(5),
        PoolsStep::Join => Pool::slots(1),
    });
    let set = set.build().unwrap().start().await.unwrap();
    let run = Client::new(&db).start::<Pools>(&(0..20).collect()).await.unwrap();
    eventually("both pools are full", async || {
        flow.slow.running.load(Ordering::SeqCst) == 2 && flow.quick.running.load(Ordering::SeqCst) == 5
    })
    .await;
    flow.slow.permits.add_permits(20);
    flow.quick.permits.add_permits(20);
    assert_eq!(run.wait().await.unwrap().join, 380);
    assert_eq!((flow.slow.most.load(Ordering::SeqCst), flow.quick.most.load(Ordering::SeqCst)), (2, 5));
    set.shutdown().await.unwrap();
    let alive = "select count(*) from flow.worker w where w.stopped_at is null";
    assert_eq!(sqlx::query_scalar::<_, i64>(alive).fetch_one(test.pool()).await.unwrap(), 0);
}

// Q21 Q25
#[tokio::test]
async fn a_missing_pool_keeps_its_tasks_and_delays_no_other() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let flow = Arc::new(Pools::default());
    flow.quick.permits.add_permits(1_000);
    flow.slow.permits.add_permits(1_000);
    let queues = || PoolsQueues::new(Arc::clone(&flow));
    let quick = Worker::builder(&db).step(queues(), PoolsStep::Quick).build().unwrap().start().await.unwrap();
    let run = Client::new(&db).start::<Pools>(&(0..500).collect()).await.unwrap();
    eventually("the quick step ends", async || run.status().await.unwrap().steps_done == 1).await;
    let waiting = "select array_agg(concat_ws(' ', q.queue, q.messages, q.workers, q.oldest_at is not null) order by q.queue) from flow.queues q";
    let waiting: Vec<String> = sqlx::query_scalar(waiting).fetch_one(test.pool()).await.unwrap();
    assert_eq!(waiting, ["pools__join 0 0 f", "pools__quick 0 1 f", "pools__slow 500 0 t"]);

    let slow = Worker::builder(&db).step(queues(), PoolsStep::Slow).build().unwrap().start().await.unwrap();
    let join = Worker::builder(&db).step(queues(), PoolsStep::Join).build().unwrap().start().await.unwrap();
    assert_eq!(run.wait().await.unwrap().join, 2 * (0..500).sum::<u32>());
    for worker in [quick, slow, join] {
        worker.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn a_queue_with_work_and_no_worker_is_logged_once_a_process() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let (log, _guard) = Log::begin();
    let flow = Arc::new(Pools::default());
    flow.quick.permits.add_permits(1);
    // Two workers of one flow share one look; their heartbeats come three times a second.
    let set = WorkerSet::builder(&db)
        .worker(Worker::builder(&db).step(PoolsQueues::new(Arc::clone(&flow)), PoolsStep::Quick).lease(SECOND))
        .worker(Worker::builder(&db).step(PoolsQueues::new(Arc::clone(&flow)), PoolsStep::Join).lease(SECOND));
    let set = set.build().unwrap();
    let deployed = Worker::builder(&db).step(PoolsQueues::new(Arc::clone(&flow)), PoolsStep::Join);
    deployed.build().unwrap().start().await.unwrap().shutdown().await.unwrap();
    Client::new(&db).start::<Pools>(&vec![1]).await.unwrap();
    let set = set.start().await.unwrap();
    eventually("the queue is named", async || !log.lines_with("queues have work and no worker").is_empty()).await;
    let lines = log.lines_with("no worker");
    assert!(lines.len() == 1 && lines[0].contains("WARN") && lines[0].contains("queues=\"pools__slow\""), "{lines:?}");
    set.shutdown().await.unwrap();
}

#[tokio::test]
async fn only_queues_with_due_work_and_no_worker_are_unserved() {
    let graph = Graph::new("pools").single("a", &[]).single("b", &["a"]).map("c", "input", &[]).step_queues();
    let engine = Engine::with(&graph).await;
    let unserved = "select array_to_string(flow.unserved_queues('pools'), ' ')";
    assert_eq!(engine.words(unserved).await, "", "no work");
    engine.start("pools", json!([1, 2])).await;
    assert_eq!(engine.words(unserved).await, "pools__a pools__c");
    engine.worker_of(&graph, "pools__a", &[0]).await;
    assert_eq!(engine.words(unserved).await, "pools__c");
    engine.run_sql("select flow.pause_queue('pools__c', 'on purpose')").await;
    assert_eq!(engine.words(unserved).await, "");
    engine.run_sql("select flow.resume_queue('pools__c'); update flow.process set lease_until = now()").await;
    assert_eq!(engine.words(unserved).await, "pools__a pools__c", "a worker that was not seen is none");
    assert_eq!(engine.words("select array_to_string(flow.unserved_queues('another'), ' ')").await, "");
}

// W11
#[tokio::test]
async fn a_flow_built_at_run_time_runs() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let graph = FlowBuilder::new("built")
        .step(StepBuilder::map("double", "input"))
        .step(StepBuilder::single("sum").needs(["double"]));
    let flow = JsonFlow::builder(graph)
        .handler("double", JsonHandler::new(async |call| Ok(json!(call.item().as_i64().unwrap_or(0) * 2))))
        .handler(
            "sum",
            JsonHandler::new(async |call| {
                let all = call.output("double").as_array().cloned().unwrap_or_default();
                Ok(json!(all.iter().filter_map(serde_json::Value::as_i64).sum::<i64>()))
            }),
        )
        .build()
        .unwrap();
    let worker = Worker::builder(&db).json(flow).build().unwrap().start().await.unwrap();
    let run = Client::new(&db).start_json("built", &json!([1, 2, 3])).await.unwrap();
    assert_eq!(run.wait().await.unwrap(), json!({"sum": 12}));
    worker.shutdown().await.unwrap();
}

#[tokio::test]
async fn two_flows_with_one_slug_are_refused_before_any_connection() {
    struct Other;
    #[flow(input = u32, slug = "pools")]
    impl Other {
        #[step]
        async fn only(&self, input: u32) -> Result<u32, StepError> {
            Ok(input)
        }
    }
    let db = Db::new("postgres://nobody@127.0.0.1:1/none").unwrap();
    let set = WorkerSet::builder(&db)
        .worker(Worker::builder(&db).flow(Pools::default()))
        .worker(Worker::builder(&db).flow(Other));
    let Err(error) = set.build() else { panic!("two flows with one slug were accepted") };
    assert!(error.to_string().contains("`pools`"), "{error}");
}
