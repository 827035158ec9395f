//! Who is told what a call has brought about: this process directly, others in a transaction of its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use flow_runtime::prelude::*;
use flow_tests::{
    flows::Tick,
    support::{Engine, Graph, Log, TestDb, eventually},
};
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::embedded::user::{Place, User};

/// No poll comes within a test.
const FAR: Duration = Duration::from_secs(600);

/// Waits until it is cancelled.
struct Patient(Arc<AtomicU32>);

#[flow(input = u32)]
impl Patient {
    #[step]
    async fn wait(&self, input: u32, ctx: &StepContext) -> Result<u32, StepError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        ctx.cancelled().await;
        self.0.fetch_add(100, Ordering::SeqCst);
        Ok(input)
    }
}

// W4 H1
#[tokio::test]
async fn who_waits_in_the_same_process_is_told_without_notifications() {
    let test = TestDb::new().await;
    let (log, _guard) = Log::begin();
    let db = Db::new(test.url()).unwrap();
    let told = Arc::new(AtomicU32::new(0));
    let tick = Worker::builder(&db).flow(Tick).poll_interval(FAR).lease(FAR).build().unwrap().start().await.unwrap();
    let patient = Worker::builder(&db).flow(Patient(Arc::clone(&told))).poll_interval(FAR).lease(FAR).build().unwrap();
    let patient = patient.start().await.unwrap();
    let client = Client::new(&db);
    // From here on no telling leaves the process, and the look at waited-for runs finds nothing.
    sqlx::raw_sql(
        "create or replace function flow.tell_others(p_queues integer[], p_runs uuid[], p_workers bigint[], p_origin text)
         returns void language plpgsql as $$ begin raise exception 'nobody listens'; end $$;
         create or replace function flow.list_ended_runs(p_runs uuid[]) returns uuid[] language sql stable as $$ select '{}'::uuid[] $$",
    )
    .execute(test.pool())
    .await
    .unwrap();
    for number in 0..20 {
        let run = client.start::<Tick>(&number).await.unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(30), run.wait()).await.expect("the wait is told");
        assert_eq!(ended.unwrap().only, number);
    }
    let held = client.start::<Patient>(&1).await.unwrap();
    eventually("its handler waits", async || told.load(Ordering::SeqCst) == 1).await;
    held.cancel().await.unwrap();
    eventually("the handler is told", async || told.load(Ordering::SeqCst) == 101).await;
    assert_eq!(log.lines_with("others were not told").len(), 1, "one line for one cause");
    tick.shutdown().await.unwrap();
    patient.shutdown().await.unwrap();
}

// B17
#[tokio::test]
async fn calls_of_programs_carry_no_notification_and_those_of_people_do() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let told = Arc::new(AtomicU32::new(0));
    let worker = Worker::builder(&db).flow(Patient(Arc::clone(&told))).build().unwrap().start().await.unwrap();
    let tick = Worker::builder(&db).flow(Tick).build().unwrap().start().await.unwrap();
    sqlx::raw_sql(
        "create or replace function flow.tell(p_progress flow.progress) returns void language plpgsql as $$
         begin raise exception 'told in the transaction'; end $$",
    )
    .execute(test.pool())
    .await
    .unwrap();
    let client = Client::new(&db);
    client.start::<Tick>(&1).await.unwrap().wait().await.unwrap();
    let held = client.start::<Patient>(&1).await.unwrap();
    eventually("its handler waits", async || told.load(Ordering::SeqCst) == 1).await;
    held.cancel().await.unwrap();
    eventually("the handler is told", async || told.load(Ordering::SeqCst) == 101).await;
    for sql in ["select flow.start_run('tick', '1')", "select flow.cancel_run(r.run_id) from flow.run r limit 1"] {
        let refused = sqlx::raw_sql(sql).execute(test.pool()).await.unwrap_err().to_string();
        assert!(refused.contains("told in the transaction"), "{sql}: {refused}");
    }
    let mut transaction = test.pool().begin().await.unwrap();
    let refused = client.start::<Tick>(&2).start_in(&mut transaction).await.unwrap_err();
    assert!(format!("{refused:?}").contains("told in the transaction"), "{refused:?}");
    worker.shutdown().await.unwrap();
    tick.shutdown().await.unwrap();
}

// L23
#[tokio::test]
async fn a_repeat_names_whom_the_lost_first_try_had_to_tell() {
    let engine = Engine::new().await;
    let graph = Graph::new("two").single("a", &[]).single("b", &[]);
    engine.deploy(&graph).await;
    let run = engine.start("two", 1).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(2).await;
    let send = "select e.p_tell_queues, e.p_tell_runs from flow.worker w, flow.exchange(
        w.process_id, w.worker_id, $2 + 1, 0, array[$1, $1], '{0,1}', '{-1,-1}', array[$2, $2],
        '{complete,complete}', '{1,1}', array_fill(null::text, '{2}'), array_fill(null::bigint, '{2}'), '{}') e";
    let send = async || -> (Option<Vec<i32>>, Option<Vec<Uuid>>) {
        sqlx::query_as(send).bind(run).bind(claims[0].batch).fetch_one(engine.pool()).await.unwrap()
    };
    assert_eq!(send().await.1, Some(vec![run]));
    let queue = engine.value::<i32>("select q.queue_id from flow.queue q").await;
    assert_eq!(send().await, (Some(vec![queue]), Some(vec![run, run])));

    let start = async |is_repeat: bool| -> Option<Vec<i32>> {
        let start = "select s.p_tell_queues from flow.start_runs_quietly('two', '{1}', array[$1], '{}', '{}', $2) s";
        sqlx::query_scalar(start).bind(Uuid::nil()).bind(is_repeat).fetch_one(engine.pool()).await.unwrap()
    };
    assert_eq!(start(false).await, Some(vec![queue]));
    assert_eq!(start(false).await, None, "a run that was there is no news");
    assert_eq!(start(true).await, Some(vec![queue]), "of a repeat nobody knows whether it was told");
}

/// How many starters there are.
const STARTERS: usize = 16;

/// How many runs each of them starts in one measurement.
const STARTS: u32 = 25;

/// Where the usual start hands its queues to be told.
const HANDS_OVER: &str = "p_tell_queues := p_tell_queues || v_started.p_queues;";

/// What the function of single starts does with its queues, in the order of the measurements: the client tells them, nobody does, or
/// the function does in its own transaction.
const WAYS: [&str; 3] = [HANDS_OVER, "", "perform flow.notify_ids('flow_queue', v_started.p_queues::text[]);"];

/// Runs a second, each started by a call of its own.
async fn start_rate(client: &Client) -> f64 {
    let began_at = Instant::now();
    let mut starters = JoinSet::new();
    for _ in 0..STARTERS {
        let client = client.clone();
        starters.spawn(async move {
            for number in 0..STARTS {
                client.start::<Tick>(&number).await.unwrap();
            }
        });
    }
    starters.join_all().await;
    (STARTERS as f64 * f64::from(STARTS)) / began_at.elapsed().as_secs_f64()
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

// B17
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn telling_slows_single_starts_by_a_fifth_at_most() {
    // A server that waits for its disk: without, a telling within the transaction would hold nobody up.
    let place = Place::new();
    let server = User::start(&mut place.user());
    let pool = PgPoolOptions::new().max_connections(STARTERS as u32 + 1).connect(&server.url).await.unwrap();
    let db = Db::from_pool(pool.clone());
    Worker::builder(&db).flow(Tick).build().unwrap().start().await.unwrap().shutdown().await.unwrap();
    let mut listener = PgListener::connect(&server.url).await.unwrap();
    listener.listen("flow_queue").await.unwrap();
    let heard = tokio::spawn(async move {
        while let Ok(note) = listener.recv().await {
            drop(note);
        }
    });
    let client = Client::new(&db);
    let function = "select pg_get_functiondef('flow.start_runs_quietly'::regproc)";
    let function: String = sqlx::query_scalar(function).fetch_one(&pool).await.unwrap();
    assert!(function.contains(HANDS_OVER));
    let mut seen = Vec::new();
    for _ in 0..4 {
        let mut rates = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..5 {
            for (way, rates) in WAYS.into_iter().zip(&mut rates) {
                let function = function.replace(HANDS_OVER, way);
                sqlx::raw_sql(sqlx::AssertSqlSafe(function)).execute(&pool).await.unwrap();
                rates.push(start_rate(&client).await);
            }
        }
        let [told, untold, within] = rates.map(median);
        println!("starts a second: {told:.0} told, {untold:.0} untold, {within:.0} told within the transaction");
        seen.push(told / untold);
        if told >= 0.8 * untold {
            break;
        }
    }
    assert!(seen.last().is_some_and(|ratio| *ratio >= 0.8), "told against untold: {seen:.2?}");
    heard.abort();
    db.close().await;
    pool.close().await;
    server.leave();
}
