//! What a worker tells of itself: its health for probes, and the key of a piece of work for effects outside.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use flow_runtime::prelude::*;
use flow_tests::{
    flows::Tick,
    support::{Proxy, TestDb, eventually},
};

// W5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_follows_the_lease_and_the_exchanges() {
    let test = TestDb::new().await;
    let proxy = Proxy::start(test.url()).await;
    let db = Db::new(proxy.url()).unwrap();
    let lease = Duration::from_secs(3);
    let worker = Worker::builder(&db).flow(Tick).lease(lease).poll_interval(Duration::from_millis(100));
    let worker = worker.build().unwrap().start().await.unwrap();
    eventually("an exchange was answered", async || worker.health().exchange_age.is_some()).await;
    let health = worker.health();
    assert!(health.is_alive && health.is_ready && health.heartbeat_age < lease, "{health:?}");
    proxy.freeze_present();
    eventually("the lease ends", async || !worker.health().is_ready).await;
    let health = worker.health();
    assert!(health.is_alive && health.heartbeat_age >= lease, "no restart would mend a network: {health:?}");
    eventually("it works again", async || worker.health().is_ready).await;
    worker.shutdown().await.unwrap();
    let health = worker.health();
    assert!(!health.is_alive && !health.is_ready, "{health:?}");
}

// W7
#[tokio::test]
async fn a_set_is_as_healthy_as_its_workers() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let set = WorkerSet::builder(&db)
        .worker(Worker::builder(&db).flow(Tick))
        .worker(Worker::builder(&db).flow(Twice::default()));
    let set = set.build().unwrap().start().await.unwrap();
    eventually("both have made exchanges", async || set.health().unwrap().exchange_age.is_some()).await;
    assert!(set.health().unwrap().is_ready);
    set.workers().next().unwrap().shutdown().await.unwrap();
    let health = set.health().unwrap();
    assert!(!health.is_alive && !health.is_ready, "{health:?}");
    set.shutdown().await.unwrap();
}

/// Fails each piece of work once, and keeps the keys.
#[derive(Default)]
struct Twice {
    keys: Arc<Mutex<Vec<String>>>,
}

#[flow(input = Vec<u32>, base_delay = "0s", max_attempts = 2)]
impl Twice {
    #[map(over = input)]
    async fn each(&self, item: u32, ctx: &StepContext) -> Result<u32, StepError> {
        self.note(ctx)?;
        Ok(item)
    }

    #[step(after(each))]
    async fn last(&self, ctx: &StepContext) -> Result<u32, StepError> {
        self.note(ctx)?;
        Ok(1)
    }
}

impl Twice {
    fn note(&self, ctx: &StepContext) -> Result<(), StepError> {
        self.keys.lock().unwrap().push(ctx.idempotency_key());
        if ctx.attempt() == 1 { Err(StepError::new("once more")) } else { Ok(()) }
    }
}

// W8
#[tokio::test]
async fn a_key_names_a_piece_of_work_whatever_its_attempt() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let keys = Arc::default();
    let worker = Worker::builder(&db).flow(Twice { keys: Arc::clone(&keys) }).poll_interval(Duration::from_millis(50));
    let worker = worker.build().unwrap().start().await.unwrap();
    let run = Client::new(&db).start::<Twice>(&vec![7, 7]).await.unwrap();
    run.wait().await.unwrap();
    let mut kept = keys.lock().unwrap().clone();
    kept.sort();
    let id = run.id();
    let expected = [format!("{id}:each:0"), format!("{id}:each:1"), format!("{id}:last:0")];
    assert_eq!(kept, expected.iter().flat_map(|key| [key.clone(), key.clone()]).collect::<Vec<_>>());
    worker.shutdown().await.unwrap();
}
