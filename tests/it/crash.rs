//! Worker processes killed at every point that matters, and a server that goes away: nothing is lost, nothing done twice.

use std::{
    collections::BTreeMap,
    os::unix::process::ExitStatusExt,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use flow_runtime::{embedded, prelude::*};
use flow_tests::{
    flows::Survivor,
    support::{Proxy, TestDb, eventually},
};
use sqlx::PgPool;
use tokio::net::TcpListener;

/// The points of `FLOW_FAULT`.
const POINTS: [&str; 6] = ["claimed", "handling", "handled", "committed", "renewing", "deploying"];

/// How many processes must die at each point.
const KILLS_A_POINT: usize = 5;

/// A worker process with one fault, or none; killed when dropped.
struct Victim {
    point: &'static str,
    child: Child,
}

impl Victim {
    fn start(url: &str, point: &'static str, at: usize) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flow_process"));
        command.args(["survivor", url, "1000"]).stdout(Stdio::null()).stderr(Stdio::null());
        if !point.is_empty() {
            command.env("FLOW_FAULT", format!("{point}:{at}:kill"));
        }
        Self { point, child: command.spawn().unwrap() }
    }

    /// Whether it has died of its fault.
    fn is_dead(&mut self) -> bool {
        match self.child.try_wait().unwrap() {
            None => false,
            Some(status) => {
                assert_eq!(status.signal(), Some(9), "{}: the worker ended by itself: {status}", self.point);
                true
            }
        }
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn number(pool: &PgPool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

/// The numbers of run `n`, so that its output can be told beforehand.
fn numbers(n: u32) -> Vec<u32> {
    (0..=n % 7).map(|i| n + i).collect()
}

async fn check_outputs(runs: Vec<RunHandle<Survivor>>) {
    for (n, run) in (0..).zip(runs) {
        let (sum, count) = run.wait().await.unwrap().sum;
        assert_eq!((sum, count), (2 * numbers(n).iter().sum::<u32>(), numbers(n).len()), "run {n}");
    }
}

/// What a finished database must look like, however it came about.
async fn check_rows(pool: &PgPool) {
    let tasks = "select count(*) from flow.tasks t where t.status <> 'completed'";
    assert_eq!(number(pool, tasks).await, 0, "every task is completed");
    let attempts = "select count(*) from flow.tasks t where t.attempt <> 1 + (
                        select count(*) from flow.attempt_error e
                        where e.used_attempt and (e.run_id, e.step_index, greatest(e.task_index, 0)) = (t.run_id, t.step_index, t.task_index))";
    assert_eq!(number(pool, attempts).await, 0, "each attempt but the last has one row of history");
    let causes = "select count(*) from flow.attempt_error e where e.cause <> 'lease_expired'";
    assert_eq!(number(pool, causes).await, 0, "no attempt failed for another reason than a crash");
    assert_eq!(number(pool, "select coalesce(sum(q.messages), 0)::bigint from flow.queues q").await, 0);
}

// L4 L5
#[tokio::test(flavor = "multi_thread")]
async fn killed_workers_lose_nothing() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let client = Client::new(&db);
    Worker::builder(&db).flow(Survivor).build().unwrap().start().await.unwrap().shutdown().await.unwrap();

    let mut killed: BTreeMap<&str, usize> = BTreeMap::new();
    let mut plan: Vec<(&'static str, usize)> =
        (0..KILLS_A_POINT).flat_map(|round| POINTS.map(|point| (point, fault_at(point, round)))).collect();
    plan.reverse();
    let mut victims: Vec<Victim> = Vec::new();
    let mut runs = Vec::new();
    while killed.values().sum::<usize>() < POINTS.len() * KILLS_A_POINT {
        for mut victim in std::mem::take(&mut victims) {
            if victim.is_dead() {
                *killed.entry(victim.point).or_default() += 1;
            } else {
                victims.push(victim);
            }
        }
        while let Some((point, at)) = plan.pop_if(|_| victims.len() < 4) {
            victims.push(Victim::start(test.url(), point, at));
        }
        // Always enough to do, so that every fault is met.
        if number(test.pool(), "select count(*) from flow.runs r where r.status = 'started'").await < 40 {
            for _ in 0..20 {
                runs.push(client.start::<Survivor>(&numbers(runs.len() as u32)).await.unwrap());
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("killed by point: {killed:?}; {} runs", runs.len());
    for point in POINTS {
        assert!(killed[point] >= KILLS_A_POINT, "{point}: {killed:?}");
    }
    assert!(runs.len() >= 100, "only {} runs were under way", runs.len());
    let _healthy = Victim::start(test.url(), "", 0);
    check_outputs(runs).await;
    check_rows(test.pool()).await;
}

/// The how-manieth time the point is passed when the process dies there.
fn fault_at(point: &str, round: usize) -> usize {
    match point {
        "deploying" => 1,
        "renewing" => 1 + round % 2,
        "handling" | "handled" => 1 + 17 * round,
        _ => 1 + 3 * round,
    }
}

// L17 L23
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_reply_costs_no_attempt() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    Worker::builder(&db).flow(Survivor).build().unwrap().start().await.unwrap().shutdown().await.unwrap();
    let client = Client::new(&db);
    let mut runs = Vec::new();
    // Enough that replies are also lost while the queue is full.
    for n in 0..300 {
        runs.push(client.start::<Survivor>(&numbers(n)).await.unwrap());
    }
    let start = |point: &str, at: u32| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flow_process"));
        command.args(["survivor", test.url(), "600000"]).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.env("FLOW_FAULT", format!("{point}:{at}:error")).spawn().unwrap();
        Victim { point: "", child }
    };
    // Leases of ten minutes: only a resumed exchange can bring the tasks back in time.
    let _workers =
        [start("committed", 1), start("committed", 2), start("committed", 9), start("claimed", 1), start("claimed", 6)];
    check_outputs(runs).await;
    check_rows(test.pool()).await;
    assert_eq!(number(test.pool(), "select count(*) from flow.attempt_error").await, 0);
}

/// A flow whose handlers run until they are told.
struct Gated {
    calls: Arc<AtomicUsize>,
    gate: Arc<AtomicBool>,
}

#[flow(input = u64, max_attempts = 1)]
impl Gated {
    #[step]
    async fn only(&self, input: u64) -> Result<u64, StepError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        while !self.gate.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(input)
    }
}

/// An address where no server is.
const NOWHERE: &str = "postgres://nobody@127.0.0.1:1/nowhere";

// L18
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_away_for_less_or_more_than_a_lease_costs_nobody_anything() {
    let mut server = embedded::start_private().await.unwrap();
    let url = server.create_database("patient").await.unwrap();
    let lease = Duration::from_secs(5);
    let (calls, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    // Each database handle has a process of its own, and the second one another way to the server.
    let late = Proxy::start(&url).await;
    let mut workers = Vec::new();
    for url in [&*url, late.url()] {
        let db = Db::new(url).unwrap();
        let flow = Gated { calls: Arc::clone(&calls), gate: Arc::clone(&gate) };
        workers
            .push(Worker::builder(&db).flow(flow).concurrency(4).lease(lease).build().unwrap().start().await.unwrap());
    }
    let client = Client::new(&Db::new(&url).unwrap());
    let mut runs = Vec::new();
    for input in 0..8 {
        runs.push(client.start::<Gated>(&input).await.unwrap());
    }
    eventually("all handlers run", async || calls.load(Ordering::SeqCst) == 8).await;
    for away in [lease * 4 / 5, lease * 3] {
        server.stop().await.unwrap();
        tokio::time::sleep(away).await;
        late.repoint(NOWHERE);
        server.start().await.unwrap();
        // The lease of the second is over when the first one is back.
        tokio::time::sleep(lease * 3 / 5).await;
        late.repoint(&url);
        // Longer than whoever comes back first waits for the other.
        tokio::time::sleep(lease * 2).await;
    }
    let pool = PgPool::connect(&url).await.unwrap();
    assert_eq!(
        number(&pool, "select count(*) from flow.tasks t where t.status = 'started' and t.attempt = 1").await,
        8
    );
    gate.store(true, Ordering::SeqCst);
    for (input, run) in (0..).zip(runs) {
        assert_eq!(run.wait().await.unwrap().only, input);
    }
    assert_eq!(calls.load(Ordering::SeqCst), 8, "no handler ran twice");
    assert_eq!(number(&pool, "select count(*) from flow.attempt_error").await, 0);
    assert_eq!(number(&pool, "select count(*) from flow.suspect").await, 0);
    assert_eq!(number(&pool, "select count(*) from flow.process p where p.ended_at is not null").await, 0);
    for worker in workers {
        worker.shutdown().await.unwrap();
    }
    pool.close().await;
}

// L14 L15
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_crashes_and_comes_back_loses_nothing() {
    let mut server = embedded::start_private().await.unwrap();
    let url = server.create_database("crash").await.unwrap();
    let db = Db::new(&url).unwrap();
    let worker = Worker::builder(&db).flow(Survivor).concurrency(30).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    let mut runs = Vec::new();
    for n in 0..200 {
        runs.push(client.start::<Survivor>(&numbers(n)).await.unwrap());
        if n % 60 == 30 {
            server.kill().await.unwrap();
            server.start().await.unwrap();
            // A start that meets the crash fails; a worker goes on.
            eventually("the server answers", async || Client::connect(&url).await.is_ok()).await;
        }
    }
    check_outputs(runs).await;
    worker.shutdown().await.unwrap();
    let pool = PgPool::connect(&url).await.unwrap();
    check_rows(&pool).await;
    // The lease was never lost: results that were ready when the server went were kept and settled.
    assert_eq!(number(&pool, "select count(*) from flow.attempt_error").await, 0);
    pool.close().await;
}

/// Counts its calls; each takes a while.
struct Counted {
    calls: Arc<AtomicUsize>,
}

#[flow(input = u64, max_attempts = 1)]
impl Counted {
    #[step]
    async fn only(&self, input: u64) -> Result<u64, StepError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(input)).await;
        Ok(input)
    }
}

// L14
#[tokio::test(flavor = "multi_thread")]
async fn while_the_server_is_away_a_worker_keeps_its_results_and_knocks_seldom() {
    let mut server = embedded::start_private().await.unwrap();
    let url = server.create_database("away").await.unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let db = Db::new(&url).unwrap();
    let flow = Counted { calls: Arc::clone(&calls) };
    let worker = Worker::builder(&db).flow(flow).lease(Duration::from_secs(60)).build().unwrap().start().await.unwrap();
    let run = Client::new(&db).start::<Counted>(&1_000).await.unwrap();
    eventually("the handler runs", async || calls.load(Ordering::SeqCst) == 1).await;
    let port = server.port();
    server.stop().await.unwrap();

    // Somebody else listens on the server's port and counts the knocks of ten seconds.
    let door = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let mut knocks = 0;
    let waiting = tokio::time::sleep(Duration::from_secs(10));
    tokio::pin!(waiting);
    loop {
        tokio::select! {
            () = &mut waiting => break,
            knock = door.accept() => {
                drop(knock.unwrap());
                knocks += 1;
            }
        }
    }
    drop(door);
    assert!((1..=20).contains(&knocks), "{knocks} connections in 10 s");
    server.start().await.unwrap();
    assert_eq!(run.wait().await.unwrap().only, 1_000);
    assert_eq!(calls.load(Ordering::SeqCst), 1, "the handler ran once: its result was kept");
    worker.shutdown().await.unwrap();
}
