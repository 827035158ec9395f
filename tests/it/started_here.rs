//! Starts in the process of a worker: the first steps begin there at once, whatever becomes of the call, its caller and the worker.

use std::{
    os::unix::process::ExitStatusExt,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use flow_runtime::prelude::*;
use flow_tests::{
    flows::Tick,
    support::{Proxy, TestDb, eventually},
};
use tokio::task::JoinSet;

/// Three steps in a row.
struct Three;

#[flow(input = u64)]
impl Three {
    #[step]
    async fn one(&self, input: u64) -> Result<u64, StepError> {
        Ok(input + 1)
    }

    #[step]
    async fn two(&self, one: u64) -> Result<u64, StepError> {
        Ok(one + 1)
    }

    #[step]
    async fn three(&self, two: u64) -> Result<u64, StepError> {
        Ok(two + 1)
    }
}

/// A flow whose handlers count how many of them run.
#[derive(Default)]
struct Crowd {
    calls: AtomicUsize,
    running: AtomicUsize,
    most: AtomicUsize,
}

#[flow(input = u64)]
impl Crowd {
    #[step]
    async fn only(&self, input: u64) -> Result<u64, StepError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(input % 7)).await;
        self.running.fetch_sub(1, Ordering::SeqCst);
        Ok(input)
    }
}

/// A flow whose handler starts another run of its own.
struct Nested(Client);

#[flow(input = u64)]
impl Nested {
    #[step]
    async fn only(&self, input: u64) -> Result<u64, StepError> {
        if input == 0 {
            return Ok(0);
        }
        let next = self.0.start::<Nested>(&(input - 1)).await;
        next.map(|_| input).map_err(|error| StepError::permanent(error.to_string()))
    }
}

async fn number(test: &TestDb, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(test.pool()).await.unwrap()
}

/// Waits until every run that is there is completed, and checks that nothing cost an attempt.
async fn check_all_at_first_try(test: &TestDb) {
    eventually("every run is completed", async || {
        number(test, "select count(*) from flow.run r where r.status <> 'completed'").await == 0
    })
    .await;
    assert_eq!(number(test, "select count(*) from flow.tasks t where t.attempt <> 1").await, 0);
    assert_eq!(number(test, "select count(*) from flow.attempt_error").await, 0);
}

// R2 C13
#[tokio::test]
async fn a_chain_that_is_started_beside_its_worker_never_has_a_message() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    db.migrate().await.unwrap();
    sqlx::raw_sql(
        "select flow.set_setting('delivery', 'rows'::text);
         create table sent as select * from flow.message;
         create function keep() returns trigger language plpgsql as $$ begin insert into sent select new.*; return new; end $$;
         create trigger keep before insert on flow.message for each row execute function keep()",
    )
    .execute(test.pool())
    .await
    .unwrap();
    let worker = Worker::builder(&db).flow(Three).poll_interval(Duration::from_secs(600)).build().unwrap();
    let worker = worker.start().await.unwrap();
    let client = Client::new(&db);
    // An exchange that is under way, as each worker's first one, keeps the slots for what it may claim.
    eventually("the first exchange has been answered", async || worker.health().exchange_age.is_some()).await;
    for input in 0..20 {
        assert_eq!(client.start::<Three>(&input).await.unwrap().wait().await.unwrap().three, input + 3);
    }
    let keyed = client.start::<Three>(&1).idempotency_key("k").await.unwrap();
    assert_eq!(keyed.wait().await.unwrap().three, 4);
    assert_eq!(number(&test, "select count(*) from sent").await, 0);
    for (input, run) in (0..).zip(client.start_many::<Three>(&(0..50).collect::<Vec<_>>()).await.unwrap()) {
        assert_eq!(run.wait().await.unwrap().three, input + 3);
    }
    check_all_at_first_try(&test).await;
    worker.shutdown().await.unwrap();
    // Without a worker, and by a program without one, a run waits with a message.
    client.start::<Three>(&1).await.unwrap();
    Client::connect(test.url()).await.unwrap().start::<Three>(&1).await.unwrap();
    assert_eq!(number(&test, "select count(*) from flow.message").await, 2);
}

// H6
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn starts_and_exchanges_together_fill_no_more_than_the_slots() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let crowd = Arc::new(Crowd::default());
    let worker = Worker::builder(&db).flow(Arc::clone(&crowd)).concurrency(3).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    let mut starts = JoinSet::new();
    for starter in 0..8 {
        let client = client.clone();
        starts.spawn(async move {
            for input in 0..20 {
                let runs = client.start_many::<Crowd>(&[starter, input]).await.unwrap();
                runs[1].wait().await.unwrap();
            }
        });
    }
    starts.join_all().await;
    check_all_at_first_try(&test).await;
    assert_eq!(crowd.most.load(Ordering::SeqCst), 3);
    worker.shutdown().await.unwrap();
}

// L17 L23
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_heartbeat_between_a_start_and_its_reply_takes_nothing_back() {
    let test = TestDb::new().await;
    let proxy = Proxy::start(test.url()).await;
    let db = Db::new(proxy.url()).unwrap();
    let crowd = Arc::new(Crowd::default());
    let worker = Worker::builder(&db).flow(Arc::clone(&crowd)).lease(Duration::from_secs(1)).build().unwrap();
    let (worker, client) = (worker.start().await.unwrap(), Client::new(&db));
    client.start::<Crowd>(&0).await.unwrap().wait().await.unwrap();
    // Heartbeats are a third of a second apart.
    proxy.slow_down(Duration::from_millis(250), 1 << 20);
    for input in 1..10 {
        client.start::<Crowd>(&input).await.unwrap();
    }
    check_all_at_first_try(&test).await;
    assert_eq!(crowd.calls.load(Ordering::SeqCst), 10);
    proxy.speed_up();
    worker.shutdown().await.unwrap();
}

// W3
#[tokio::test]
async fn a_handler_that_starts_runs_of_its_own_flow_waits_for_no_slot() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let client = Client::new(&db);
    let worker =
        Worker::builder(&db).flow(Nested(client.clone())).concurrency(1).build().unwrap().start().await.unwrap();
    client.start::<Nested>(&10).await.unwrap();
    eventually("the last run is there", async || number(&test, "select count(*) from flow.run").await == 11).await;
    check_all_at_first_try(&test).await;
    worker.shutdown().await.unwrap();
}

// L23
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_replies_of_starts_cost_no_attempt() {
    let test = TestDb::new().await;
    let proxy = Proxy::start(test.url()).await;
    let db = Db::new(proxy.url()).unwrap();
    let worker =
        Worker::builder(&db).flow(Three).lease(Duration::from_secs(600)).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    let mut runs = vec![client.start::<Three>(&0).await.unwrap()];
    for input in 1..20 {
        runs[0].status().await.unwrap();
        proxy.lose_replies();
        runs.push(client.start::<Three>(&input).await.unwrap());
    }
    for (input, run) in (0..).zip(&runs) {
        assert_eq!(run.wait().await.unwrap().three, input + 3);
    }
    assert!(proxy.lost() >= 10, "{} answers were lost", proxy.lost());
    assert_eq!(number(&test, "select count(*) from flow.run").await, 20);
    check_all_at_first_try(&test).await;
    worker.shutdown().await.unwrap();
}

// L23
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_is_dropped_or_frozen_loses_nothing() {
    let test = TestDb::new().await;
    let proxy = Proxy::start(test.url()).await;
    let db = Db::new(proxy.url()).unwrap();
    let worker = Worker::builder(&db).flow(Three).concurrency(2).lease(Duration::from_secs(2)).build().unwrap();
    let worker = worker.start().await.unwrap();
    let client = Client::new(&db);
    for input in 0..200 {
        let start = client.start::<Three>(&input).into_future();
        let _ = tokio::time::timeout(Duration::from_micros(40 * input), start).await;
    }
    check_all_at_first_try(&test).await;
    // A frozen call gives its slots back after two seconds; the other worker connections are frozen too and are made anew.
    proxy.freeze_present();
    let frozen = client.start::<Three>(&1).await.unwrap();
    assert_eq!(frozen.wait().await.unwrap().three, 4);
    worker.shutdown().await.unwrap();
}

// W5 L23
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn starts_beside_a_worker_that_shuts_down_are_done_by_the_next_one() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let client = Client::new(&db);
    for _ in 0..5 {
        let worker = Worker::builder(&db).flow(Three).poll_interval(Duration::from_millis(50)).build().unwrap();
        let worker = worker.start().await.unwrap();
        let mut starts = JoinSet::new();
        for starter in 0..4 {
            let client = client.clone();
            starts.spawn(async move {
                for input in 0..20 {
                    client.start::<Three>(&(starter + input)).await.unwrap();
                }
            });
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
        worker.shutdown().await.unwrap();
        starts.join_all().await;
    }
    let last = Worker::builder(&db).flow(Three).build().unwrap().start().await.unwrap();
    check_all_at_first_try(&test).await;
    assert_eq!(number(&test, "select count(*) from flow.run").await, 400);
    last.shutdown().await.unwrap();
}

// L4 L5
#[tokio::test(flavor = "multi_thread")]
async fn programs_killed_while_they_start_lose_nothing() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    db.migrate().await.unwrap();
    for point in ["reserved", "started", "handed"] {
        for at in [1, 3, 6] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_flow_process"));
            command.args(["starter", test.url(), "1000", "20"]).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.env("FLOW_FAULT", format!("{point}:{at}:kill")).spawn().unwrap();
            let status = tokio::task::spawn_blocking(move || child.wait()).await.unwrap().unwrap();
            assert_eq!(status.signal(), Some(9), "{point}:{at}: {status}");
        }
    }
    let worker = Worker::builder(&db).flow(Tick).lease(Duration::from_secs(1)).build().unwrap().start().await.unwrap();
    eventually("every run is completed", async || {
        number(&test, "select count(*) from flow.run r where r.status <> 'completed'").await == 0
    })
    .await;
    let causes = "select count(*) from flow.attempt_error e where e.cause <> 'lease_expired'";
    assert_eq!(number(&test, causes).await, 0);
    assert!(number(&test, "select count(*) from flow.run").await >= 25);
    worker.shutdown().await.unwrap();
}

// L17 L23
#[tokio::test(flavor = "multi_thread")]
async fn a_start_whose_reply_is_lost_after_the_commit_is_taken_over_by_its_repeat() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    db.migrate().await.unwrap();
    for fault in ["started:1:error", "started:3:error", "reserved:2:error", "handed:2:error"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flow_process"));
        // Its leases are of ten minutes, and its heartbeats ten seconds apart.
        command.args(["starter", test.url(), "600000", "6"]).stdout(Stdio::null());
        let mut child = command.env("FLOW_FAULT", fault).spawn().unwrap();
        let status = tokio::task::spawn_blocking(move || child.wait()).await.unwrap().unwrap();
        assert!(status.success(), "{fault}: {status}");
    }
    assert_eq!(number(&test, "select count(*) from flow.run").await, 24);
    check_all_at_first_try(&test).await;
}
