//! Step queues: a pool a step, several in one process.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use flow_runtime::{FlowBuilder, JsonFlow, JsonHandler, Pool, StepBuilder, prelude::*, with_step_queues};
use flow_tests::support::{TestDb, eventually};
use serde_json::json;
use tokio::sync::Semaphore;

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

// W11
#[tokio::test]
async fn a_flow_built_at_run_time_runs() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let graph = FlowBuilder::new("built")
        .step(StepBuilder::map("double", "input"))
        .step(StepBuilder::single("sum").needs(["double"]));
    let flow = JsonFlow::new(graph)
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
