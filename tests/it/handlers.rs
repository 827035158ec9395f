//! Handlers at work: when their context tells them to give up, and what stops or delays them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use chrono::{DateTime, Utc};
use flow_runtime::{
    FlowBuilder, JsonCall, JsonFlow, JsonHandler, RunningWorker, StepBuilder, definition::Mode, prelude::*,
};
use flow_tests::support::{Engine, TestDb, eventually};
use serde_json::{Value, json};

/// Beyond every test: what is due then does not come.
const FAR: Duration = Duration::from_secs(600);

/// What handlers have said of themselves, by the element they were called with: `begun`, `told`, `ended`.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<BTreeMap<String, Vec<&'static str>>>>);

impl Diary {
    fn note(&self, who: &str, what: &'static str) {
        self.0.lock().unwrap().entry(who.to_owned()).or_default().push(what);
    }

    fn of(&self, who: &str) -> Vec<&'static str> {
        self.0.lock().unwrap().get(who).cloned().unwrap_or_default()
    }

    async fn wait_for(&self, who: &str, what: &[&'static str]) {
        eventually(&format!("{who} has {what:?}"), async || self.of(who) == what).await;
    }
}

/// A handler that does what its element says: `wait…` until it is told to give up, `fail…` at once, `sleep…` for a second.
async fn obey(diary: Diary, call: JsonCall) -> Result<Value, StepError> {
    let word = call.item().as_str().unwrap_or_default().to_owned();
    diary.note(&word, "begun");
    // Looks on from outside, so that it is told also when the handler itself is dropped, and after it has ended.
    let (ctx, observed, observer) = (call.ctx().clone(), word.clone(), diary.clone());
    tokio::spawn(async move {
        ctx.cancelled().await;
        observer.note(&observed, "told");
    });
    if word.starts_with("fail") {
        // Fails when its siblings are at work.
        while diary.0.lock().unwrap().len() < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        return Err(StepError::permanent("as told"));
    }
    if word.starts_with("sleep") {
        tokio::time::sleep(Duration::from_secs(1)).await;
    } else {
        call.ctx().cancelled().await;
    }
    diary.note(&word, if call.ctx().is_cancelled() { "cancelled" } else { "ended" });
    Ok(json!("late"))
}

/// A database, a worker of a map whose handlers obey, and its client.
struct Watched {
    engine: Engine,
    worker: RunningWorker,
    client: Client,
    diary: Diary,
}

impl Watched {
    async fn new(
        when_exhausted: Mode,
        set: impl FnOnce(flow_runtime::WorkerBuilder) -> flow_runtime::WorkerBuilder,
    ) -> Self {
        let (engine, diary) = (Engine::new().await, Diary::default());
        let graph = FlowBuilder::new("watched").timeout(FAR);
        let graph = graph.step(StepBuilder::map("act", "input").when_exhausted(when_exhausted));
        let handler = {
            let diary = diary.clone();
            JsonHandler::new(move |call| obey(diary.clone(), call))
        };
        let flow = JsonFlow::builder(graph).handler("act", handler).build().unwrap();
        let db = Db::new(engine.url()).unwrap();
        let worker = set(Worker::builder(&db).json(flow).lease(FAR).poll_interval(FAR)).build().unwrap();
        Self { worker: worker.start().await.unwrap(), client: Client::new(&db), engine, diary }
    }

    async fn start(&self, words: &[&str]) -> RunHandle<flow_runtime::Untyped> {
        self.client.start_json("watched", &json!(words)).await.unwrap()
    }

    /// The statuses of a run's tasks, of which none may have an output or be recorded as failed, and the run's.
    async fn left(&self, run: &RunHandle<flow_runtime::Untyped>) -> String {
        let query = "select concat_ws(' ', r.status, (select string_agg(concat(t.status, '/', t.attempt, t.output), ' ' order by t.task_index)
                                                      from flow.tasks t where t.run_id = r.run_id))
                     from flow.run r where r.run_id = $1";
        sqlx::query_scalar(query).bind(run.id()).fetch_one(self.engine.pool()).await.unwrap()
    }
}

const TOLD: [&str; 3] = ["begun", "told", "cancelled"];

impl Diary {
    /// Waits until a handler and whoever looks on were told, in whichever order.
    async fn wait_until_told(&self, who: &str) {
        eventually(&format!("{who} is told"), async || {
            let mut said = self.of(who);
            said.sort_by_key(|what| TOLD.iter().position(|told| told == what));
            said == TOLD
        })
        .await;
    }
}

// W9 K3
#[tokio::test]
async fn a_handler_is_told_that_its_run_was_cancelled_and_its_settlement_is_lost() {
    let watched = Watched::new(Mode::Fail, |worker| worker).await;
    let run = watched.start(&["wait"]).await;
    watched.diary.wait_for("wait", &["begun"]).await;
    // Lease and poll are far: only the notification can tell.
    run.cancel().await.unwrap();
    watched.diary.wait_until_told("wait").await;
    let next = watched.start(&["sleep"]).await;
    assert_eq!(next.wait().await.unwrap(), json!({"act": ["late"]}), "the worker goes on");
    assert_eq!(watched.left(&run).await, "cancelled cancelled/1");
    assert_eq!(watched.engine.value::<i64>("select count(*) from flow.attempt_error").await, 0);
    watched.worker.shutdown().await.unwrap();
}

// K3
#[tokio::test]
async fn without_notifications_the_next_renewal_tells_that_the_run_was_cancelled() {
    let watched = Watched::new(Mode::Fail, |worker| worker.lease(Duration::from_secs(3))).await;
    let run = watched.start(&["wait"]).await;
    watched.diary.wait_for("wait", &["begun"]).await;
    let silence = "create or replace function flow.notify_ids(p_channel text, p_ids text[], p_origin text default null) returns void language sql as ''";
    watched.engine.run_sql(silence).await;
    let elsewhere = Client::new(&Db::new(watched.engine.url()).unwrap());
    elsewhere.run_json(run.id()).cancel().await.unwrap();
    watched.diary.wait_until_told("wait").await;
    watched.worker.shutdown().await.unwrap();
    assert_eq!(watched.left(&run).await, "cancelled cancelled/1");
    assert_eq!(watched.engine.value::<i64>("select count(*) from flow.attempt_error").await, 0);
}

// W9
#[tokio::test]
async fn a_handler_is_told_that_its_task_was_cancelled_or_skipped_by_a_siblings_failure() {
    for (when_exhausted, left) in
        [(Mode::Fail, "failed cancelled/1 failed/1"), (Mode::Skip, "completed skipped/1 failed/1")]
    {
        let watched = Watched::new(when_exhausted, |worker| worker).await;
        let run = watched.start(&["wait", "fail"]).await;
        watched.diary.wait_until_told("wait").await;
        watched.worker.shutdown().await.unwrap();
        assert_eq!(watched.left(&run).await, left);
    }
}

// W9
#[tokio::test]
async fn a_handler_is_told_that_another_worker_has_taken_its_task() {
    let watched = Watched::new(Mode::Fail, |worker| worker).await;
    let run = watched.start(&["wait"]).await;
    watched.diary.wait_for("wait", &["begun"]).await;
    let process = watched.engine.process(std::time::Duration::from_secs(3600)).await;
    sqlx::query("select flow.register_worker(7, $1, 'hand', 'watched', (select flow.stored_shape(f.flow_id) from flow.flow f), 'watched',
                                             '{0}', '{}', 1)")
        .bind(process)
        .execute(watched.engine.pool())
        .await
        .unwrap();
    let other = watched.engine.hand(7);
    let mut taken = Vec::new();
    eventually("the other worker takes the work", async || {
        watched.engine.run_sql("update flow.process set lease_until = now() where name <> 'by hand'").await;
        watched
            .engine
            .run_sql("select flow.end_process(p.process_id) from flow.process p where p.ended_at is null")
            .await;
        watched.engine.recover().await;
        taken = other.claim(10).await;
        !taken.is_empty()
    })
    .await;
    // The next heartbeat is seconds away; this makes it come now.
    watched.engine.run_sql("select pg_notify('flow_worker', '*')").await;
    watched.diary.wait_until_told("wait").await;
    other.accept(taken[0].complete("other")).await;
    assert_eq!(run.wait().await.unwrap(), json!({"act": ["other"]}));
    watched.worker.shutdown().await.unwrap();
    assert_eq!(watched.left(&run).await, "completed completed/2\"other\"");
}

// W9
#[tokio::test]
async fn a_handler_is_told_that_its_worker_stops() {
    let watched = Watched::new(Mode::Fail, |worker| worker.grace(Duration::ZERO)).await;
    let run = watched.start(&["wait"]).await;
    watched.diary.wait_for("wait", &["begun"]).await;
    watched.worker.shutdown().await.unwrap();
    eventually("whoever looks on is told", async || watched.diary.of("wait").contains(&"told")).await;
    assert_eq!(watched.left(&run).await, "started queued/0", "it is given back");
}

// W9
#[tokio::test]
async fn a_handler_that_ends_in_time_is_told_nothing() {
    let watched = Watched::new(Mode::Fail, |worker| worker).await;
    let run = watched.start(&["sleep"]).await;
    let other = watched.start(&["wait"]).await;
    watched.diary.wait_for("wait", &["begun"]).await;
    // Its lease is renewed, and another run is cancelled, while it sleeps.
    for _ in 0..3 {
        watched.engine.run_sql("select pg_notify('flow_worker', '*')").await;
    }
    other.cancel().await.unwrap();
    watched.diary.wait_until_told("wait").await;
    assert_eq!(run.wait().await.unwrap(), json!({"act": ["late"]}));
    watched.worker.shutdown().await.unwrap();
    assert_eq!(watched.diary.of("sleep"), ["begun", "ended"], "nor is it told after its end");
}

/// When the first attempt of each step was to end, and when it was dropped.
type Stops = Arc<Mutex<BTreeMap<String, (DateTime<Utc>, Option<DateTime<Utc>>)>>>;

/// Notes when it is dropped, under the step's slug.
struct Dropped(Stops, String);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.lock().unwrap().get_mut(&self.1).unwrap().1 = Some(Utc::now());
    }
}

/// Never ends on the first attempt; on the second returns whether the first was stopped before it.
async fn hang_once(stops: Stops, call: JsonCall) -> Result<Value, StepError> {
    let step = call.ctx().step().to_owned();
    if call.ctx().attempt() == 2 {
        return Ok(json!(stops.lock().unwrap()[&step].1.is_some()));
    }
    stops.lock().unwrap().insert(step.clone(), (call.ctx().deadline(), None));
    let _dropped = Dropped(stops, step);
    std::future::pending().await
}

// F8
#[tokio::test]
async fn a_handler_past_its_steps_or_its_flows_timeout_is_dropped_and_tried_again() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let graph = FlowBuilder::new("timed").timeout(Duration::from_millis(700)).base_delay(Duration::ZERO);
    let own = StepBuilder::single("own").timeout(Duration::from_millis(200));
    let graph = graph.step(own).step(StepBuilder::single("flows"));
    let stops = Stops::default();
    let handler = {
        let stops = Arc::clone(&stops);
        JsonHandler::new(move |call| hang_once(Arc::clone(&stops), call))
    };
    let flow = JsonFlow::builder(graph).other_steps(handler).build().unwrap();
    let worker = Worker::builder(&db).json(flow).build().unwrap().start().await.unwrap();
    let run = Client::new(&db).start_json("timed", &json!(null)).await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(30), run.wait()).await.expect("both are stopped").unwrap();
    assert_eq!(ended, json!({"own": true, "flows": true}), "each second attempt found the first one stopped");
    let history = "select array_agg(concat_ws(' ', s.slug, e.attempt, e.cause, e.error) order by s.slug)
                   from flow.attempt_error e join flow.step s using (step_index)";
    let history: Vec<String> = sqlx::query_scalar(history).fetch_one(test.pool()).await.unwrap();
    let text = |step: &str, ms: u32| format!("{step} 1 timeout the handler passed its timeout of {ms}ms");
    assert_eq!(history, [text("flows", 700), text("own", 200)]);
    for (step, (deadline, dropped_at)) in stops.lock().unwrap().iter() {
        // The database's clock is this machine's. Twenty times what the line allows on a quiet one.
        let late = dropped_at.unwrap() - deadline;
        assert!(late >= chrono::Duration::zero() && late < chrono::Duration::seconds(20), "{step}: {late}");
    }
    worker.shutdown().await.unwrap();
}

/// Blocks threads until its async step, which ticks meanwhile, lets them go.
#[derive(Default)]
struct Mixed {
    inside: AtomicUsize,
    is_open: Mutex<bool>,
    opened: Condvar,
}

#[flow(input = Vec<u8>, timeout = "5m", max_attempts = 1)]
impl Mixed {
    #[map(over = input, blocking)]
    fn hold(&self, item: u8) -> Result<u8, StepError> {
        self.inside.fetch_add(1, Ordering::SeqCst);
        let open = self.is_open.lock().unwrap();
        let (open, _) = self.opened.wait_timeout_while(open, Duration::from_secs(20), |open| !*open).unwrap();
        if *open { Ok(item) } else { Err(StepError::new("the async handler did not get to run")) }
    }

    /// Ticks a hundred times; returns the longest a tick took.
    #[step]
    async fn tick(&self) -> Result<u64, StepError> {
        while self.inside.load(Ordering::SeqCst) < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let mut longest = Duration::ZERO;
        for _ in 0..100 {
            let began_at = Instant::now();
            tokio::time::sleep(Duration::from_millis(10)).await;
            longest = longest.max(began_at.elapsed());
        }
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
        Ok(u64::try_from(longest.as_millis())?)
    }
}

// W6
#[tokio::test]
async fn an_async_handler_ticks_while_three_handlers_of_its_worker_block() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Mixed::default()).concurrency(4).build().unwrap().start().await.unwrap();
    let run = Client::new(&db).start::<Mixed>(&vec![1, 2, 3]).await.unwrap();
    // All of this test runs on one thread. The three are let go by the ticks alone, after the second that these take.
    let ended =
        tokio::time::timeout(Duration::from_secs(60), run.wait()).await.expect("nobody waits for ever").unwrap();
    assert_eq!(ended.hold, [1, 2, 3]);
    assert!(ended.tick < 2_000, "a tick of 10 ms took {} ms", ended.tick);
    worker.shutdown().await.unwrap();
}
