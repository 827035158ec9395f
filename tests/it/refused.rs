//! Real workers whose queue is paused or holds what they must not claim: what they say, once, and what goes on.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use flow_runtime::{RunningWorker, embedded, error::WorkerError, prelude::*};
use flow_tests::support::{Engine, Log, eventually};
use sqlx::PgPool;

/// Two steps, of which the first waits for its gate.
#[derive(Clone, Default)]
struct Gated {
    gate: Arc<AtomicBool>,
    calls: Arc<AtomicUsize>,
}

#[flow(input = u32, max_attempts = 1)]
impl Gated {
    #[step]
    async fn first(&self, input: u32) -> Result<u32, StepError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        while !self.gate.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(input)
    }

    #[step]
    async fn second(&self, first: u32) -> Result<u32, StepError> {
        Ok(first)
    }
}

/// A worker of the gated flow that looks often.
async fn start(db: &Db, flow: &Gated, name: &str) -> Result<RunningWorker, WorkerError> {
    let worker = Worker::builder(db).flow(flow.clone()).name(name).lease(Duration::from_secs(5));
    worker.poll_interval(Duration::from_millis(50)).build().unwrap().start().await
}

async fn number(pool: &PgPool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

async fn words(pool: &PgPool, query: &'static str) -> String {
    sqlx::query_scalar::<_, String>(query).fetch_all(pool).await.unwrap().join(" ")
}

/// Every piece of work as `step=status/attempt`, in order.
const WORK: &str = "select concat(t.step, '=', t.status, '/', t.attempt) from flow.tasks t order by 1";

// Q18
#[tokio::test]
async fn a_corrupt_batch_is_one_fatal_error_of_one_worker_and_names_no_body() {
    let (log, _guard) = Log::begin();
    let engine = Engine::of_pgmq().await;
    let flow = Gated::default();
    let (one, other) = (Db::new(engine.url()).unwrap(), Db::new(engine.url()).unwrap());
    let workers = [start(&one, &flow, "one").await.unwrap(), start(&other, &flow, "other").await.unwrap()];
    let insert = "insert into pgmq.q_gated (vt, message)
                  select now(), '{\"run\": \"secret\", \"step\": 0}' from generate_series(1, 2) returning msg_id";
    let ids: Vec<i64> = sqlx::query_scalar(insert).fetch_all(engine.pool()).await.unwrap();
    let (stopped, result) = tokio::select! {
        result = workers[0].stopped() => (0, result),
        result = workers[1].stopped() => (1, result),
    };
    let Err(WorkerError::Corrupt(reason)) = result else { panic!("{result:?}") };
    assert_eq!(reason, format!("queue \"gated\" holds messages that do not fit their work: {}, {}", ids[0], ids[1]));
    workers[stopped].stopped().await.expect("it is told once");
    let going_on = &workers[1 - stopped];
    eventually("the other worker finds the queue paused", async || !log.lines_with("the queue is paused").is_empty())
        .await;
    let errors = log.lines_with("ERROR");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains(&reason), "{errors:?}");
    assert_eq!(log.lines_with("secret"), Vec::<String>::new());

    let pool = engine.pool();
    assert_eq!(words(pool, "select q.paused_why from flow.queue q where q.paused_at is not null").await, reason);
    let alive = "select w.worker_id from flow.worker w where w.stopped_at is null";
    assert_eq!(number(pool, alive).await, going_on.worker_id().as_i64(), "one stopped, the other did not");
    assert_eq!(number(pool, "select count(*) from pgmq.q_gated").await, 2);
    going_on.shutdown().await.unwrap();
    assert_eq!(log.lines_with("ERROR").len(), 1);
}

// Q22
#[tokio::test]
async fn a_misrouted_task_is_one_fatal_error_and_another_worker_runs_it() {
    let (log, _guard) = Log::begin();
    let engine = Engine::new().await;
    let pool = engine.pool();
    let flow = Gated::default();
    flow.gate.store(true, Ordering::SeqCst);
    let db = Db::new(engine.url()).unwrap();
    let wrong = start(&db, &flow, "wrong").await.unwrap();
    engine.run_sql("update flow.worker set steps = '{1}'").await;
    let run = Client::new(&Db::new(engine.url()).unwrap()).start::<Gated>(&7).await.unwrap();
    let result = wrong.stopped().await;
    let Err(WorkerError::Misrouted(reason)) = result else { panic!("{result:?}") };
    let expected =
        "queue \"gated\" holds work that worker \"wrong\" does not serve, of step \"first\" of flow \"gated\"";
    assert_eq!(reason, expected);
    wrong.stopped().await.expect("it is told once");
    let disabled =
        "select concat_ws('|', n.name, n.disabled_why) from flow.worker_name n where n.disabled_at is not null";
    assert_eq!(words(pool, disabled).await, format!("wrong|{expected}"));
    assert_eq!(number(pool, "select count(*) from flow.worker w where w.stopped_at is null").await, 0);
    assert_eq!(number(pool, "select count(*) from flow.queue q where q.paused_at is not null").await, 0);
    assert_eq!(words(pool, WORK).await, "first=queued/0");
    assert!(start(&db, &flow, "wrong").await.is_err(), "its name is disabled");

    let right = start(&db, &flow, "right").await.unwrap();
    assert_eq!(run.wait().await.unwrap().second, 7);
    assert_eq!(words(pool, WORK).await, "first=completed/1 second=completed/1");
    let workers = "select distinct w.name from flow.tasks t join flow.worker w using (worker_id)";
    assert_eq!(words(pool, workers).await, "right");
    assert_eq!(number(pool, "select count(*) from flow.attempt_error").await, 0);
    let errors = log.lines_with("ERROR");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains(expected), "{errors:?}");
    right.shutdown().await.unwrap();
}

// Q19
#[tokio::test(flavor = "multi_thread")]
async fn a_paused_queue_stays_so_over_restarts_and_takes_starts_settlements_and_renewals() {
    let mut server = embedded::start_private().await.unwrap();
    let url = server.create_database("paused").await.unwrap();
    let flow = Gated::default();
    let db = Db::new(&url).unwrap();
    let holder = start(&db, &flow, "holder").await.unwrap();
    let client = Client::new(&Db::new(&url).unwrap());
    let mut runs = vec![client.start::<Gated>(&0).await.unwrap()];
    eventually("the handler runs", async || flow.calls.load(Ordering::SeqCst) == 1).await;
    let pool = PgPool::connect(&url).await.unwrap();
    sqlx::query("select flow.pause_queue('gated', 'holiday')").execute(&pool).await.unwrap();
    runs.push(client.start::<Gated>(&1).await.unwrap());

    server.restart().await.unwrap();
    let renewed =
        "select count(*) from flow.process p where p.seen_at > pg_postmaster_start_time() and p.lease_until > now()";
    eventually("the holder renews its lease", async || {
        sqlx::query_scalar::<_, i64>(renewed).fetch_one(&pool).await.is_ok_and(|renewed| renewed == 1)
    })
    .await;
    let elsewhere = Db::new(&url).unwrap();
    start(&elsewhere, &flow, "restarted").await.unwrap().shutdown().await.unwrap();
    let restarted = start(&elsewhere, &flow, "restarted").await.unwrap();
    runs.push(client.start::<Gated>(&2).await.unwrap());
    // The restarted worker has asked more than once; what it is answered is asked for here under its name.
    let ask =
        "select concat_ws('|', e.p_state, e.p_reason, cardinality(e.p_runs)) from flow.worker w, lateral flow.exchange(
                   w.process_id, w.worker_id, 1000000, 10, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}') e
               where w.name = 'restarted' and w.stopped_at is null";
    let mut answer = "busy".to_owned();
    eventually("the worker is not in the middle of an exchange", async || {
        answer = words(&pool, ask).await;
        answer != "busy"
    })
    .await;
    assert_eq!(answer, "paused|holiday");

    flow.gate.store(true, Ordering::SeqCst);
    eventually("the result of before is settled", async || {
        words(&pool, WORK).await == "first=completed/1 first=queued/0 first=queued/0 second=queued/0"
    })
    .await;
    assert_eq!(number(&pool, "select count(*) from flow.message").await, 3);
    assert_eq!((flow.calls.load(Ordering::SeqCst), words(&pool, ask).await.starts_with("ok")), (1, false));
    sqlx::query("select flow.resume_queue('gated')").execute(&pool).await.unwrap();
    for (input, run) in (0..).zip(runs) {
        assert_eq!(run.wait().await.unwrap().second, input);
    }
    assert_eq!(number(&pool, "select count(*) from flow.tasks t where t.attempt = 1").await, 6);
    assert_eq!(number(&pool, "select count(*) from flow.attempt_error").await, 0);
    holder.shutdown().await.unwrap();
    restarted.shutdown().await.unwrap();
    pool.close().await;
}
