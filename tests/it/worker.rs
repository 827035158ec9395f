//! Workers: slots, batches, leases, timeouts, panics, and shutdown.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use flow_runtime::{error::WorkerError, prelude::*};
use flow_tests::{
    flows::{Order, Orders},
    support::{TestDb, eventually},
};
use serde::{Deserialize, Serialize};

/// What one handler is to do.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
enum Deed {
    Sleep(u64),
    Fail,
    FailTwice,
    Panic,
    NeverEnd,
    UntilCancelled,
    /// Keeps its thread of the runtime for so long.
    Block(u64),
}

/// Does what its input says, and counts.
#[derive(Default)]
struct Doer {
    running: AtomicUsize,
    most: AtomicUsize,
    ended: AtomicUsize,
    cancelled: AtomicUsize,
}

#[flow(input = Vec<Deed>, base_delay = "0s", max_attempts = 3)]
impl Doer {
    #[map(over = input)]
    async fn act(&self, item: Deed, ctx: &StepContext) -> Result<u32, StepError> {
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let result = match item {
            Deed::Sleep(ms) => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                Ok(ctx.attempt())
            }
            Deed::Block(ms) => {
                std::thread::sleep(Duration::from_millis(ms));
                Ok(ctx.attempt())
            }
            Deed::Fail => Err(StepError::new("as told")),
            Deed::FailTwice if ctx.attempt() < 3 => Err(StepError::new("not yet")),
            Deed::FailTwice => Ok(ctx.attempt()),
            Deed::Panic => panic!("as told"),
            Deed::NeverEnd => std::future::pending().await,
            Deed::UntilCancelled => {
                ctx.cancelled().await;
                self.cancelled.fetch_add(1, Ordering::SeqCst);
                Ok(0)
            }
        };
        self.running.fetch_sub(1, Ordering::SeqCst);
        self.ended.fetch_add(1, Ordering::SeqCst);
        result
    }
}

/// A flow whose handlers pass their timeout.
struct Slow;

#[flow(input = u64, max_attempts = 2, base_delay = "0s")]
impl Slow {
    #[step(timeout = "100ms")]
    async fn wait(&self, input: u64) -> Result<(), StepError> {
        tokio::time::sleep(Duration::from_millis(input)).await;
        Ok(())
    }
}

/// A flow with blocking handlers.
struct Blocks;

#[flow(input = Vec<u64>)]
impl Blocks {
    #[map(over = input, blocking)]
    fn block(&self, item: u64) -> Result<u64, StepError> {
        std::thread::sleep(Duration::from_millis(item));
        Ok(item)
    }
}

async fn text(db: &TestDb, query: &'static str) -> String {
    sqlx::query_scalar::<_, Vec<String>>(query).fetch_one(db.pool()).await.unwrap().join(" ")
}

async fn number(db: &TestDb, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(db.pool()).await.unwrap()
}

// W1
#[tokio::test]
async fn three_steps_run_end_to_end() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Orders { announce: false }).build().unwrap().start().await.unwrap();
    let order = Order { items: vec!["tea".into(), "cup".into(), "pot".into()], pick_ms: 1 };
    let run = Client::new(&db).start::<Orders>(&order).await.unwrap();
    assert_eq!(run.wait().await.unwrap().ship, "0:TEA,1:CUP,2:POT");
    worker.shutdown().await.unwrap();
}

// W2
#[tokio::test]
async fn a_slow_handler_holds_one_slot_only() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let doer = Arc::new(Doer::default());
    let worker = Worker::builder(&db).flow(Arc::clone(&doer)).concurrency(4).build().unwrap().start().await.unwrap();
    let mut deeds = vec![Deed::Sleep(10_000)];
    deeds.extend((0..100).map(|_| Deed::Sleep(10)));
    Client::new(&db).start::<Doer>(&deeds).await.unwrap();
    eventually("the quick handlers end", async || doer.ended.load(Ordering::SeqCst) == 100).await;
    assert_eq!(doer.running.load(Ordering::SeqCst), 1, "the slow handler still runs");
    drop(worker);
}

// W3
#[tokio::test]
async fn as_many_handlers_run_as_there_are_slots() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let doer = Arc::new(Doer::default());
    let worker = Worker::builder(&db).flow(Arc::clone(&doer)).concurrency(7).build().unwrap().start().await.unwrap();
    let run = Client::new(&db).start::<Doer>(&(0..100).map(|_| Deed::Sleep(5)).collect()).await.unwrap();
    run.wait().await.unwrap();
    assert_eq!(doer.most.load(Ordering::SeqCst), 7);
    worker.shutdown().await.unwrap();
}

// W4
#[tokio::test]
async fn a_notification_wakes_an_idle_worker() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let far = Duration::from_secs(600);
    let worker = Worker::builder(&db).flow(Doer::default()).poll_interval(far).build().unwrap().start().await.unwrap();
    // The client is another program's: what it starts is told by notifications alone.
    let client = Client::new(&Db::new(test.url()).unwrap());
    client.start::<Doer>(&vec![Deed::Sleep(0)]).await.unwrap().wait().await.unwrap();
    // Idle now: nothing but a notification can wake it within the test.
    client.start::<Doer>(&vec![Deed::Sleep(0)]).await.unwrap().wait().await.unwrap();
    worker.shutdown().await.unwrap();
}

// W4 H2
#[tokio::test]
async fn with_notifications_cut_the_poll_finds_work_and_ends() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let poll = Duration::from_millis(200);
    let worker = Worker::builder(&db).flow(Doer::default()).poll_interval(poll).build().unwrap().start().await.unwrap();
    sqlx::raw_sql(
        "create or replace function flow.notify_ids(p_channel text, p_ids text[], p_origin text default null) returns void language sql as ''",
    )
    .execute(test.pool())
    .await
    .unwrap();
    let elsewhere = Client::new(&Db::new(test.url()).unwrap());
    let run = elsewhere.start::<Doer>(&vec![Deed::Sleep(0)]).await.unwrap();
    tokio::time::timeout(Duration::from_secs(20), run.wait()).await.expect("polls reach both ends").unwrap();
    worker.shutdown().await.unwrap();
}

// W5
#[tokio::test]
async fn a_worker_has_one_row_and_beats_while_its_slots_are_full() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let doer = Arc::new(Doer::default());
    let worker = Worker::builder(&db).flow(Arc::clone(&doer)).concurrency(1).lease(Duration::from_secs(1));
    let worker = worker.build().unwrap().start().await.unwrap();
    let row = "select array_agg(concat_ws(' ', q.name, w.stopped_at is null)) from flow.worker w join flow.queue q using (queue_id)";
    assert_eq!(text(&test, row).await, "doer t");
    Client::new(&db).start::<Doer>(&vec![Deed::Sleep(3_000)]).await.unwrap().wait().await.unwrap();
    let beats = "select (w.seen_at > w.started_at + interval '2 s')::integer::bigint from flow.workers w";
    assert_eq!(number(&test, beats).await, 1);
    let process =
        "select array_agg(concat_ws(' ', p.lease_ms, p.lease_until > now(), p.stopped_at is null)) from flow.process p";
    assert_eq!(text(&test, process).await, "1000 t t");
    worker.shutdown().await.unwrap();
    assert_eq!((text(&test, row).await.as_str(), text(&test, process).await.ends_with("t f")), ("doer f", true));
}

// L20 W5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_that_block_the_runtime_cost_no_other_work_its_lease() {
    let test = TestDb::new().await;
    let (db, other) = (Db::new(test.url()).unwrap(), Db::new(test.url()).unwrap());
    let start = async |db: &Db| {
        let worker = Worker::builder(db).flow(Doer::default()).concurrency(6).lease(Duration::from_secs(1));
        worker.build().unwrap().start().await.unwrap()
    };
    let workers = [start(&db).await, start(&other).await];
    assert_eq!(number(&test, "select count(*) from flow.process").await, 2);
    // Two threads and more than two handlers that hold one: nothing of the runtime's runs for longer than two leases.
    let deeds: Vec<Deed> = (0..8).map(|at| if at < 6 { Deed::Block(2_500) } else { Deed::Sleep(100) }).collect();
    let run = Client::new(&db).start::<Doer>(&deeds).await.unwrap();
    assert_eq!(run.wait().await.unwrap().act, vec![1; 8]);
    assert_eq!(number(&test, "select count(*) from flow.attempt_error").await, 0);
    for worker in workers {
        worker.shutdown().await.unwrap();
    }
}

// L6
#[tokio::test]
async fn a_worker_that_was_registered_for_a_process_which_had_just_ended_works_on() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Doer::default()).build().unwrap().start().await.unwrap();
    // As if the process had gone on under its present number while the registration was on its way.
    let ended = "with ended as (insert into flow.process (process_id, name, lease_ms, lease_until, ended_at)
                                values (1, 'ended', 1000, now(), now()))
                 update flow.worker set process_id = 1";
    sqlx::raw_sql(ended).execute(test.pool()).await.unwrap();
    let run = Client::new(&db).start::<Doer>(&vec![Deed::Sleep(0)]).await.unwrap();
    tokio::time::timeout(Duration::from_secs(30), run.wait()).await.expect("its heartbeat takes it along").unwrap();
    worker.shutdown().await.unwrap();
}

// L2
#[tokio::test]
async fn a_handler_longer_than_its_lease_runs_once() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let doer = Arc::new(Doer::default());
    let build = || {
        let worker = Worker::builder(&db).flow(Arc::clone(&doer)).lease(Duration::from_secs(1));
        worker.poll_interval(Duration::from_millis(50)).build().unwrap()
    };
    let (one, two) = (build().start().await.unwrap(), build().start().await.unwrap());
    let run = Client::new(&db).start::<Doer>(&vec![Deed::Sleep(3_500)]).await.unwrap();
    assert_eq!(run.wait().await.unwrap().act, [1]);
    assert_eq!(doer.ended.load(Ordering::SeqCst), 1);
    assert_eq!(number(&test, "select count(*) from flow.attempt_error").await, 0);
    one.shutdown().await.unwrap();
    two.shutdown().await.unwrap();
}

// F7
#[tokio::test]
async fn a_panic_is_a_failed_attempt_and_the_others_go_on() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Doer::default()).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    let well = client.start::<Doer>(&vec![Deed::Sleep(50), Deed::FailTwice]).await.unwrap();
    let ill = client.start::<Doer>(&vec![Deed::Panic]).await.unwrap();
    let error = ill.wait().await.err().unwrap().to_string();
    assert!(error.contains("panicked at tests/it/worker.rs:") && error.ends_with(": as told"), "{error}");
    assert_eq!(well.wait().await.unwrap().act, [1, 3]);
    let causes =
        "select array_agg(e.cause::text order by e.attempt) from flow.attempt_error e where e.error like '%panicked%'";
    assert_eq!(text(&test, causes).await, "panic panic panic");
    worker.shutdown().await.unwrap();
}

// F8
#[tokio::test]
async fn a_handler_past_its_timeout_is_stopped_and_retried() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Slow).build().unwrap().start().await.unwrap();
    let began_at = Instant::now();
    let error = Client::new(&db).start::<Slow>(&600_000).await.unwrap().wait().await.err().unwrap().to_string();
    assert!(error.contains("passed its timeout of 100ms"), "{error}");
    assert!(began_at.elapsed() < Duration::from_secs(20), "stopped, not waited for");
    let causes = "select array_agg(e.cause::text order by e.attempt) from flow.attempt_error e";
    assert_eq!(text(&test, causes).await, "timeout timeout");
    worker.shutdown().await.unwrap();
}

/// A flow whose blocking handler passes its timeout, and counts how many of its calls run.
#[derive(Default)]
struct Stuck {
    running: AtomicUsize,
    most: AtomicUsize,
}

#[flow(input = Vec<u64>, max_attempts = 1)]
impl Stuck {
    #[map(over = input, blocking, timeout = "100ms", when_exhausted = skip)]
    fn block(&self, item: u64) -> Result<u64, StepError> {
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(item));
        self.running.fetch_sub(1, Ordering::SeqCst);
        Ok(item)
    }
}

// F9
#[tokio::test]
async fn a_blocking_handler_past_its_timeout_keeps_its_slot() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let flow = Arc::new(Stuck::default());
    let worker = Worker::builder(&db).flow(Arc::clone(&flow)).concurrency(1).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    let first = client.start::<Stuck>(&vec![2_000]).await.unwrap();
    assert!(first.wait().await.unwrap().block.is_none(), "settled as timeout, while the call goes on");
    assert_eq!(flow.running.load(Ordering::SeqCst), 1);
    assert_eq!(text(&test, "select array_agg(e.cause::text) from flow.attempt_error e").await, "timeout");
    let second = client.start::<Stuck>(&vec![0]).await.unwrap();
    assert_eq!(second.wait().await.unwrap().block, Some(vec![0]));
    assert_eq!(flow.most.load(Ordering::SeqCst), 1, "the second call waited for the first one's slot");
    assert_eq!(first.status().await.unwrap().status.as_str(), "completed");
    worker.shutdown().await.unwrap();
}

/// A flow that wants what the database does not hold.
struct Picky;

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
struct Customer {
    name: String,
    age: u8,
}

#[flow(input = Vec<Customer>, max_attempts = 5)]
impl Picky {
    #[step]
    async fn count(&self, input: Vec<Customer>) -> Result<usize, StepError> {
        Ok(input.len())
    }
}

// F10
#[tokio::test]
async fn an_input_that_does_not_decode_fails_for_good_and_names_the_place() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Picky).build().unwrap().start().await.unwrap();
    let input = serde_json::json!([{"name": "a", "age": 1}, {"name": "b", "age": "secret"}]);
    let run = Client::new(&db).start_json("picky", &input).await.unwrap();
    let error = run.wait().await.unwrap_err().to_string();
    assert!(
        error.contains("parameter `input`") && error.contains("[1].age") && error.contains("expected u8"),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");
    assert_eq!(
        text(&test, "select array_agg(concat_ws(' ', e.attempt, e.cause)) from flow.attempt_error e").await,
        "1 permanent"
    );
    worker.shutdown().await.unwrap();
}

/// A flow that tells what its context says.
struct Witness;

/// What a context says.
#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
struct SeenContext {
    run: String,
    step: String,
    task: u32,
    attempt: u32,
    worker: i64,
    deadline: String,
}

#[flow(input = Vec<u8>, base_delay = "0s", timeout = "90s")]
impl Witness {
    #[map(over = input)]
    async fn tell(&self, item: u8, ctx: &StepContext) -> Result<SeenContext, StepError> {
        if item == 1 && ctx.attempt() == 1 {
            return Err(StepError::new("once more"));
        }
        Ok(SeenContext {
            run: ctx.run_id().to_string(),
            step: ctx.step().to_owned(),
            task: ctx.task_index(),
            attempt: ctx.attempt(),
            worker: ctx.worker_id().as_i64(),
            deadline: ctx.deadline().to_rfc3339_opts(chrono::SecondsFormat::Micros, true),
        })
    }
}

// W8
#[tokio::test]
async fn a_context_tells_who_and_where_and_until_when() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Witness).build().unwrap().start().await.unwrap();
    let run = Client::new(&db).start::<Witness>(&vec![0, 1]).await.unwrap();
    let said = run.wait().await.unwrap().tell;
    for (task, said) in (0..).zip(&said) {
        assert_eq!((said.run.as_str(), said.step.as_str(), said.task), (run.id().to_string().as_str(), "tell", task));
        assert_eq!((said.attempt, said.worker), (1 + task, worker.worker_id().as_i64()));
    }
    let deadlines = "select array_agg(to_char((t.claimed_at + interval '90 s') at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')
                     order by t.task_index) from flow.tasks t";
    let deadlines = text(&test, deadlines).await;
    assert_eq!(said.iter().map(|said| said.deadline.as_str()).collect::<Vec<_>>().join(" "), deadlines);
    worker.shutdown().await.unwrap();
}

/// A flow whose handler says that it was cancelled.
struct Liar;

#[flow(input = String, max_attempts = 2, base_delay = "0s")]
impl Liar {
    #[step]
    async fn say(&self, input: String) -> Result<(), StepError> {
        Err(StepError::new(input))
    }
}

// W12
#[tokio::test]
async fn an_error_that_says_cancelled_is_a_failed_attempt() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Liar).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    for word in ["cancelled", "aborted"] {
        let error = client.start::<Liar>(&word.to_owned()).await.unwrap().wait().await.unwrap_err().to_string();
        assert!(error.contains("failed at step `say`"), "{error}");
    }
    assert_eq!(number(&test, "select count(*) from flow.attempt_error e where e.cause = 'error'").await, 4);
    worker.shutdown().await.unwrap();
}

// L16
#[tokio::test]
async fn a_deprecated_worker_drains_and_stops() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let doer = Arc::new(Doer::default());
    let far = Duration::from_secs(600);
    let worker = Worker::builder(&db).flow(Arc::clone(&doer)).concurrency(1).poll_interval(far).build().unwrap();
    let worker = worker.start().await.unwrap();
    let run = Client::new(&db).start::<Doer>(&vec![Deed::Sleep(300), Deed::Sleep(0)]).await.unwrap();
    eventually("the handler runs", async || doer.running.load(Ordering::SeqCst) == 1).await;
    assert_eq!(number(&test, "select flow.deprecate('doer')::bigint").await, 1);
    worker.stopped().await.unwrap();
    assert_eq!(doer.ended.load(Ordering::SeqCst), 1, "what ran was finished, nothing else begun");
    assert_eq!(run.status().await.unwrap().tasks_done, 1);
    assert_eq!(number(&test, "select count(*) from flow.worker w where w.stopped_at is not null").await, 1);
    assert_eq!(number(&test, "select flow.deprecate('doer')::bigint").await, 0, "safe to go on with the rollout");

    let start = || Worker::builder(&db).flow(Doer::default()).build().unwrap().start();
    let Err(error) = start().await else { panic!("a worker of a deprecated flow started") };
    assert!(error.to_string().contains("flow.undeprecate('doer')"), "{error}");
    assert!(!error.is_transient());
    sqlx::query("select flow.undeprecate('doer')").execute(test.pool()).await.unwrap();
    start().await.unwrap().shutdown().await.unwrap();
}

/// A flow that asks for the impossible: to wait for ever, and to store more than fits.
struct Greedy;

#[flow(input = Vec<usize>, max_attempts = 2)]
impl Greedy {
    /// Returns that many bytes; for none it asks to be tried again at the end of time.
    #[map(over = input)]
    async fn grow(&self, item: usize) -> Result<String, StepError> {
        if item == 0 { Err(StepError::new("later")).retry_after(Duration::MAX) } else { Ok("x".repeat(item)) }
    }
}

// F6
#[tokio::test]
async fn a_retry_at_the_end_of_time_waits_for_a_year() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Greedy).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    client.start::<Greedy>(&vec![0]).await.unwrap();
    let days = "select extract(day from max(m.due_at) - now())::bigint from test.messages() m";
    let history = "select count(*) from flow.attempt_error";
    eventually("the failure is recorded", async || number(&test, history).await == 1).await;
    assert_eq!(number(&test, days).await, 364);
    assert_eq!(client.start::<Greedy>(&vec![1]).await.unwrap().wait().await.unwrap().grow, ["x"], "the worker goes on");
    worker.shutdown().await.unwrap();
}

// S16
#[tokio::test(flavor = "multi_thread")]
async fn outputs_too_large_together_fail_their_run_and_no_other() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Greedy).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    // Each is under the limit of one value; the array of all of them is over what Postgres can hold in one.
    let large = client.start::<Greedy>(&vec![15_500_000; 18]).await.unwrap();
    let small = client.start::<Greedy>(&vec![1; 50]).await.unwrap();
    let error = large.wait().await.err().unwrap().to_string();
    assert!(error.contains("outputs of map \"grow\" have 279000072 bytes together"), "{error}");
    assert!(error.contains("more than the limit of 134217728") && error.contains("max_aggregate_bytes"), "{error}");
    assert_eq!(small.wait().await.unwrap().grow.len(), 50);
    assert_eq!(number(&test, "select count(*) from flow.attempt_error").await, 0, "no task is blamed");
    worker.shutdown().await.unwrap();
}

// W6
#[tokio::test]
async fn blocking_handlers_do_not_delay_async_ones() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Blocks).concurrency(3).build().unwrap().start().await.unwrap();
    let run = Client::new(&db).start::<Blocks>(&vec![1_000; 3]).await.unwrap();
    let mut latest = Duration::ZERO;
    let ticking = async {
        loop {
            let began_at = Instant::now();
            tokio::time::sleep(Duration::from_millis(10)).await;
            latest = latest.max(began_at.elapsed());
        }
    };
    tokio::select! {
        () = ticking => {}
        output = run.wait() => assert_eq!(output.unwrap().block, [1_000; 3]),
    }
    // All of this test runs on one thread: a blocked thread would show as a whole second.
    assert!(latest < Duration::from_millis(900), "{latest:?}");
    worker.shutdown().await.unwrap();
}

// K3 W9
#[tokio::test]
async fn a_cancelled_runs_handlers_are_told() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let doer = Arc::new(Doer::default());
    // The lease is long: only the notification can bring the news within the test.
    let worker = Worker::builder(&db).flow(Arc::clone(&doer)).lease(Duration::from_secs(600));
    let worker = worker.build().unwrap().start().await.unwrap();
    let run = Client::new(&db).start::<Doer>(&vec![Deed::UntilCancelled, Deed::UntilCancelled]).await.unwrap();
    eventually("both handlers run", async || doer.running.load(Ordering::SeqCst) == 2).await;
    assert_eq!(run.cancel().await.unwrap().as_str(), "cancelled");
    eventually("both handlers are told", async || doer.cancelled.load(Ordering::SeqCst) == 2).await;
    assert!(run.wait().await.err().unwrap().to_string().contains("cancelled"));
    worker.shutdown().await.unwrap();
}

// L8 L9
#[tokio::test]
async fn shutdown_lets_a_handler_end_within_the_grace() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let doer = Arc::new(Doer::default());
    let build = || Worker::builder(&db).flow(Arc::clone(&doer)).concurrency(1).build().unwrap();
    let first = build().start().await.unwrap();
    let run = Client::new(&db).start::<Doer>(&vec![Deed::Sleep(500), Deed::Sleep(0)]).await.unwrap();
    eventually("the handler runs", async || doer.running.load(Ordering::SeqCst) == 1).await;
    first.shutdown().await.unwrap();
    assert_eq!(doer.ended.load(Ordering::SeqCst), 1, "the running handler ended, no other began");
    assert_eq!(run.status().await.unwrap().tasks_done, 1);
    let second = build().start().await.unwrap();
    assert_eq!(run.wait().await.unwrap().act, [1, 1]);
    second.shutdown().await.unwrap();
}

// L8 L10
#[tokio::test]
async fn a_handler_past_the_grace_is_cancelled_and_given_back_at_once() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let doer = Arc::new(Doer::default());
    let build = || Worker::builder(&db).flow(Arc::clone(&doer)).lease(Duration::from_secs(600));
    let first = build().grace(Duration::from_millis(100)).build().unwrap().start().await.unwrap();
    Client::new(&db).start::<Doer>(&vec![Deed::NeverEnd]).await.unwrap();
    eventually("the handler runs", async || doer.running.load(Ordering::SeqCst) == 1).await;
    first.shutdown().await.unwrap();
    let task = "select array_agg(concat_ws(' ', t.status, t.attempt)) from flow.tasks t";
    assert_eq!(text(&test, task).await, "queued 0");
    assert_eq!(number(&test, "select q.visible from flow.queues q").await, 1);
    let second = build().grace(Duration::ZERO).build().unwrap().start().await.unwrap();
    eventually("another worker runs it", async || text(&test, task).await == "started 1").await;
    second.shutdown().await.unwrap();
}

// L11
#[tokio::test]
async fn concurrent_shutdowns_share_one_drain() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Doer::default()).build().unwrap().start().await.unwrap();
    let (one, two) = tokio::join!(worker.shutdown(), worker.shutdown());
    one.unwrap();
    two.unwrap();
    worker.shutdown().await.unwrap();
    assert_eq!(number(&test, "select count(*) from flow.worker w where w.stopped_at is not null").await, 1);
}

// L12
#[tokio::test]
async fn a_start_that_is_given_up_leaves_no_worker_alive() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    for pause_ms in [0, 2, 5, 10, 20, 40] {
        let start = Worker::builder(&db).flow(Doer::default()).build().unwrap().start();
        let _ = tokio::time::timeout(Duration::from_millis(pause_ms), start).await;
    }
    eventually("every worker has stopped", async || {
        number(&test, "select count(*) from flow.worker w where w.stopped_at is null").await == 0
            && number(&test, "select count(*) from pg_stat_activity a where a.datname = current_database() and a.application_name = 'flow'").await <= 1
    })
    .await;
}

// L13
#[tokio::test]
async fn a_pool_of_the_callers_is_never_closed() {
    let test = TestDb::new().await;
    let pool = sqlx::PgPool::connect(test.url()).await.unwrap();
    let db = Db::from_pool(pool.clone());
    let worker = Worker::builder(&db).flow(Doer::default()).build().unwrap().start().await.unwrap();
    Client::new(&db).start::<Doer>(&vec![Deed::Sleep(0)]).await.unwrap().wait().await.unwrap();
    worker.shutdown().await.unwrap();
    db.close().await;
    sqlx::query("select 1").execute(&pool).await.unwrap();

    let own = Db::new(test.url()).unwrap();
    own.close().await;
    own.close().await;
    assert!(Client::new(&own).start::<Doer>(&vec![]).await.is_err());
}

// L14 L15
#[tokio::test]
async fn a_killed_connection_costs_no_attempt() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let doer = Arc::new(Doer::default());
    let worker = Worker::builder(&db).flow(Arc::clone(&doer)).concurrency(5).build().unwrap().start().await.unwrap();
    let run = Client::new(&db).start::<Doer>(&(0..60).map(|_| Deed::Sleep(50)).collect()).await.unwrap();
    for _ in 0..8 {
        tokio::time::sleep(Duration::from_millis(80)).await;
        sqlx::query("select pg_terminate_backend(a.pid) from pg_stat_activity a where a.datname = current_database() and a.application_name = 'flow'")
            .execute(test.pool())
            .await
            .unwrap();
    }
    assert_eq!(run.wait().await.unwrap().act, [1; 60]);
    assert_eq!(doer.ended.load(Ordering::SeqCst), 60, "no handler ran twice");
    assert_eq!(number(&test, "select count(*) from flow.attempt_error").await, 0);
    worker.shutdown().await.unwrap();
}

// P4 P16
#[tokio::test]
async fn another_shape_of_a_deployed_flow_is_refused_in_production() {
    mod other {
        use super::*;
        pub(super) struct Doer;
        #[flow(input = Vec<u32>)]
        impl Doer {
            #[step]
            async fn act(&self, input: Vec<u32>) -> Result<usize, StepError> {
                Ok(input.len())
            }
        }
    }
    let test = TestDb::new().await;
    sqlx::query("select flow.set_setting('environment', '\"production\"')").execute(test.pool()).await.unwrap();
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Doer::default()).build().unwrap().start().await.unwrap();
    let refused = Worker::builder(&db).flow(other::Doer).build().unwrap().start().await;
    let Err(error) = refused else { panic!("a second shape was accepted") };
    let text = error.to_string();
    assert!(text.contains("`doer`") && text.contains("kind: stored \"map\", sent \"single\""), "{text}");
    assert_eq!(number(&test, "select count(*) from flow.worker").await, 1);
    worker.shutdown().await.unwrap();
}

// P18
#[tokio::test]
async fn a_disabled_worker_drains_and_does_not_start_again() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let build = || Worker::builder(&db).flow(Doer::default()).name("packer").build().unwrap();
    let worker = build().start().await.unwrap();
    sqlx::query("select flow.disable_worker('packer', 'rolled back')").execute(test.pool()).await.unwrap();
    worker.stopped().await.unwrap();
    for _ in 0..5 {
        let Err(WorkerError::Deploy(error)) = build().start().await else { panic!("a disabled worker started") };
        assert!(error.to_string().contains("rolled back"), "{error}");
    }
    assert_eq!(number(&test, "select count(*) from flow.worker").await, 1);
    sqlx::query("select flow.enable_worker('packer')").execute(test.pool()).await.unwrap();
    build().start().await.unwrap().shutdown().await.unwrap();
}

// Q18 Q19
#[tokio::test]
async fn a_corrupt_message_stops_the_worker_and_pauses_the_queue() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Doer::default()).build().unwrap().start().await.unwrap();
    sqlx::raw_sql("select test.write_message('doer', gen_random_uuid(), 0, -1); select pg_notify('flow_queue', '*')")
        .execute(test.pool())
        .await
        .unwrap();
    let error = worker.stopped().await.unwrap_err();
    assert!(matches!(error, WorkerError::Corrupt(_)));
    assert!(error.to_string().contains("`flow.resume_queue`") || error.to_string().contains("flow.resume_queue"));
    assert!(!error.to_string().contains("secret"));
    assert_eq!(number(&test, "select count(*) from flow.queues q where q.paused_at is not null").await, 1);
    assert_eq!(number(&test, "select count(*) from flow.worker w where w.stopped_at is null").await, 0);
}

// P19
#[tokio::test]
async fn a_worker_whose_flow_was_deleted_is_gone() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Doer::default()).poll_interval(Duration::from_millis(50));
    let worker = worker.build().unwrap().start().await.unwrap();
    sqlx::query("select flow.delete_flow('doer', true)").execute(test.pool()).await.unwrap();
    assert!(matches!(worker.stopped().await, Err(WorkerError::Gone(_))));
}

#[tokio::test]
async fn a_flow_that_is_deleted_while_a_worker_claims_is_gone_too() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Doer::default()).concurrency(1).poll_interval(Duration::from_millis(50));
    let worker = worker.build().unwrap().start().await.unwrap();
    // The worker has read who it is, and waits for the queue's table when the flow goes.
    let mut deleting = test.pool().begin().await.unwrap();
    sqlx::query("lock table flow.message in access exclusive mode").execute(&mut *deleting).await.unwrap();
    eventually("the worker waits", async || {
        number(&test, "select count(*) from pg_locks l where not l.granted and l.relation = 'flow.message'::regclass")
            .await
            == 1
    })
    .await;
    sqlx::query("select flow.delete_flow('doer', true)").execute(&mut *deleting).await.unwrap();
    deleting.commit().await.unwrap();
    assert!(matches!(worker.stopped().await, Err(WorkerError::Gone(_))));
}

// W10
#[tokio::test(flavor = "multi_thread")]
async fn one_worker_completes_thousands() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let doer = Arc::new(Doer::default());
    let worker = Worker::builder(&db).flow(Arc::clone(&doer)).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    let many = client.start_many::<Doer>(&vec![vec![Deed::Sleep(0)]; 2_000]).await.unwrap();
    let large = client.start::<Doer>(&vec![Deed::Sleep(0); 5_000]).await.unwrap();
    for run in many {
        assert_eq!(run.wait().await.unwrap().act, [1]);
    }
    assert_eq!(large.wait().await.unwrap().act, vec![1; 5_000]);
    assert_eq!(doer.ended.load(Ordering::SeqCst), 7_000);
    worker.shutdown().await.unwrap();
}

#[tokio::test]
async fn an_option_out_of_range_is_refused_before_any_connection() {
    let db = Db::new("postgres://nobody@127.0.0.1:1/none").unwrap();
    let refused = Worker::builder(&db).flow(Slow).lease(Duration::from_millis(10)).build();
    let Err(error) = refused else { panic!("a lease of 10 ms was accepted") };
    assert_eq!(error.to_string(), "lease is 10ms; it must be from 1s to 1h");
}

#[tokio::test]
async fn an_address_without_a_server_is_named() {
    let db = Db::new("postgres://me:secret@127.0.0.1:1/none").unwrap();
    let Err(error) = Worker::builder(&db).flow(Slow).build().unwrap().start().await else { panic!("it started") };
    let text = error.to_string();
    assert!(text.contains("127.0.0.1:1/none") && !text.contains("secret"), "{text}");
}

/// The server processes behind the connections of this crate's own, each with a name that no other has.
async fn own_processes(test: &TestDb) -> Vec<(String, i32)> {
    sqlx::query_as(
        "select a.application_name, a.pid from pg_stat_activity a
         where a.datname = current_database() and a.application_name ~ '^flow [0-9a-f]{32}$' order by 1",
    )
    .fetch_all(test.pool())
    .await
    .unwrap()
}

// W14
#[tokio::test]
async fn an_answer_of_the_servers_costs_no_connection() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Doer::default()).lease(Duration::from_secs(1)).build().unwrap();
    let worker = worker.start().await.unwrap();
    let run = Client::new(&db).start::<Doer>(&vec![Deed::Sleep(300)]).await.unwrap();
    let claimed = "select count(*) from flow.tasks t where t.status = 'started'";
    eventually("the task is claimed", async || number(&test, claimed).await == 1).await;
    eventually("its connections are there", async || own_processes(&test).await.len() == 3).await;
    let before = own_processes(&test).await;
    // The exchange that settles the task waits for this lock, and is cancelled twice.
    let mut holder = test.pool().begin().await.unwrap();
    sqlx::query("select from flow.run for update").execute(&mut *holder).await.unwrap();
    let waiting =
        "select count(*) from pg_stat_activity a where a.wait_event_type = 'Lock' and a.query like '%flow.exchange%'";
    for _ in 0..2 {
        eventually("the exchange waits", async || number(&test, waiting).await == 1).await;
        sqlx::query("select pg_cancel_backend(a.pid) from pg_stat_activity a where a.query like '%flow.exchange%' and a.wait_event_type = 'Lock'")
            .execute(test.pool())
            .await
            .unwrap();
        eventually("it was cancelled", async || number(&test, waiting).await == 0).await;
    }
    holder.rollback().await.unwrap();
    assert_eq!(run.wait().await.unwrap().act, [1]);
    assert_eq!(own_processes(&test).await, before, "a connection was made anew");
    worker.shutdown().await.unwrap();
}

// W14
#[tokio::test]
async fn of_a_lost_connection_only_the_process_with_its_name_is_ended() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Doer::default()).build().unwrap().start().await.unwrap();
    eventually("its connections are there", async || own_processes(&test).await.len() == 3).await;
    let names: std::collections::BTreeSet<_> = own_processes(&test).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 3, "settling, renewing and listening");
    // Somebody else's, which a pooler might have given the process of a lost connection.
    let mut innocent = test.pool().acquire().await.unwrap();
    let own = "select pg_backend_pid()";
    let before: i32 = sqlx::query_scalar(own).fetch_one(&mut *innocent).await.unwrap();
    for (_, process) in own_processes(&test).await {
        sqlx::query("select pg_terminate_backend($1)").bind(process).execute(test.pool()).await.unwrap();
    }
    Client::new(&db).start::<Doer>(&vec![Deed::Sleep(1)]).await.unwrap().wait().await.unwrap();
    assert_eq!(sqlx::query_scalar::<_, i32>(own).fetch_one(&mut *innocent).await.unwrap(), before);
    worker.shutdown().await.unwrap();
}
