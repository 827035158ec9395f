//! Deadlocks and serialization failures that the server raises by itself, in each call of a worker: nothing is lost, nothing is done twice.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    time::Duration,
};

use flow_runtime::{RunningWorker, prelude::*};
use flow_tests::support::{Engine, Log, eventually};
use sqlx::{Connection, PgConnection, PgPool};
use uuid::Uuid;

/// How often each call fails.
const ROUNDS: usize = 3;

/// Handlers that end when their number is up.
#[derive(Clone, Default)]
struct Numbered {
    calls: Arc<AtomicUsize>,
    /// Handlers of runs below this may end.
    up: Arc<AtomicU32>,
}

#[flow(input = u32, max_attempts = 1)]
impl Numbered {
    #[step]
    async fn only(&self, input: u32) -> Result<u32, StepError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        while self.up.load(Ordering::SeqCst) <= input {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(input)
    }
}

impl Numbered {
    async fn called(&self, times: usize) {
        eventually("the handler runs", async || self.calls.load(Ordering::SeqCst) == times).await;
    }

    fn let_end(&self, below: u32) {
        self.up.store(below, Ordering::SeqCst);
    }

    /// A worker with one slot, whose exchanges wait for locks as long as it takes to be in a circle.
    async fn start(&self, engine: &Engine, db: &Db) -> RunningWorker {
        let worker = Worker::builder(db).flow(self.clone()).concurrency(1).lease(Duration::from_secs(30));
        let worker = worker.build().unwrap().start().await.unwrap();
        engine.run_sql("alter function flow.exchange set lock_timeout = '60s'").await;
        worker
    }
}

/// How many calls of a function wait for a lock.
async fn waiting(pool: &PgPool, call: &str) -> i64 {
    let query = "select count(*) from pg_stat_activity a
                 where a.datname = current_database() and a.wait_event_type = 'Lock' and a.query like '%' || $1 || '%'";
    sqlx::query_scalar(query).bind(call).fetch_one(pool).await.unwrap()
}

async fn begin(pool: &PgPool, first: &'static str, run: Option<Uuid>) -> sqlx::Transaction<'static, sqlx::Postgres> {
    let mut rival = pool.begin().await.unwrap();
    sqlx::query(first).bind(run).execute(&mut *rival).await.unwrap();
    rival
}

/// Waits until a call waits for what `rival` holds, then lets `rival` wait for what that call holds, until the server has ended the call
/// with a deadlock so often. What `rival` has locked at first it keeps.
async fn deadlocks(
    pool: &PgPool,
    rival: &mut PgConnection,
    call: &'static str,
    (crossing, run): (&'static str, Uuid),
) -> usize {
    let mut raised = 0;
    let mut won = 0;
    while won < ROUNDS {
        eventually("the call waits", async || waiting(pool, call).await == 1).await;
        // The call has waited for longer than the rival, so it is the one that the server ends.
        tokio::time::sleep(Duration::from_millis(100)).await;
        sqlx::raw_sql("savepoint before").execute(&mut *rival).await.unwrap();
        match sqlx::query(crossing).bind(run).execute(&mut *rival).await {
            Ok(_) => won += 1,
            Err(error) => assert_eq!(error.as_database_error().unwrap().code().unwrap(), "40P01"),
        }
        raised += 1;
        sqlx::raw_sql("rollback to savepoint before").execute(&mut *rival).await.unwrap();
    }
    raised
}

/// Everything ended as if nothing had happened.
async fn check(engine: &Engine, runs: i64) {
    let completed = "select count(*) from flow.run r where r.status = 'completed'";
    eventually("every run is completed", async || engine.value::<i64>(completed).await == runs).await;
    let once = "select count(*) from flow.step_state ss where ss.status = 'completed' and ss.attempt = 1";
    assert_eq!(engine.value::<i64>(once).await, runs);
    assert_eq!(engine.value::<i64>("select count(*) from flow.attempt_error").await, 0);
    assert_eq!(engine.value::<i64>("select count(*) from flow.process p where p.ended_at is not null").await, 0);
}

// L15
#[tokio::test]
async fn a_deadlock_in_claim_renewal_or_settlement_costs_nothing() {
    let (log, _guard) = Log::begin();
    let engine = Engine::of_rows().await;
    let pool = engine.pool().clone();
    let (db, flow) = (Db::new(engine.url()).unwrap(), Numbered::default());
    let worker = flow.start(&engine, &db).await;
    let client = Client::new(&Db::new(engine.url()).unwrap());
    let id = worker.worker_id();

    // Claim: the exchange holds the work and waits for a row of the hand, the rival the other way round.
    let mut rival = pool.begin().await.unwrap();
    sqlx::query(
        "insert into flow.hand (worker_id, batch, is_exchange, runs, steps, tasks, batches)
         select $1, b, false, '{}', '{}', '{}', '{}' from generate_series(1, 10000) b on conflict do nothing",
    )
    .bind(id)
    .execute(&mut *rival)
    .await
    .unwrap();
    let first = client.start::<Numbered>(&0).await.unwrap();
    let work = "select from flow.step_state where run_id = $1 for update";
    let mut raised = deadlocks(&pool, &mut rival, "flow.exchange", (work, first.id().into())).await;
    assert_eq!(flow.calls.load(Ordering::SeqCst), 0);
    rival.rollback().await.unwrap();
    flow.called(1).await;
    assert!(log.lines_with("deadlock detected").len() >= ROUNDS);

    // Renewal: it gives back what the worker does not know of, so it holds the process and waits for the work.
    let second: Uuid = engine.start("numbered", 1).await;
    let lost = "with gone as (delete from flow.message where run_id = $1)
                update flow.step_state set worker_id = (select w.worker_id from flow.worker w), batch = 0, attempt = 1,
                       claimed_at = clock_timestamp(), timeout_ms = 60000 where run_id = $1";
    sqlx::query(lost).bind(second).execute(&pool).await.unwrap();
    let mut rival = begin(&pool, "select from flow.step_state where run_id = $1 for update", Some(second)).await;
    sqlx::query("insert into flow.hand values ($1, 0, false, array[$2], '{0}', '{-1}', '{0}')")
        .bind(id)
        .bind(second)
        .execute(&pool)
        .await
        .unwrap();
    sqlx::query("select pg_notify('flow_worker', $1)").bind(id.to_string()).execute(&pool).await.unwrap();
    let process = "select from flow.process where $1::uuid is not null for update";
    raised += deadlocks(&pool, &mut rival, "flow.heartbeat", (process, second)).await;
    rival.rollback().await.unwrap();
    let given_back = "select count(*) from flow.message";
    eventually("the renewal goes through", async || engine.value::<i64>(given_back).await == 1).await;

    // Settlement: it holds the run and waits for the work.
    let mut rival =
        begin(&pool, "select from flow.step_state where run_id = $1 for update", Some(first.id().into())).await;
    flow.let_end(1);
    let run = "select from flow.run where run_id = $1 for update";
    raised += deadlocks(&pool, &mut rival, "flow.exchange", (run, first.id().into())).await;
    assert_eq!(flow.calls.load(Ordering::SeqCst), 1);
    rival.rollback().await.unwrap();
    assert_eq!(first.wait().await.unwrap().only, 0);
    flow.let_end(2);
    check(&engine, 2).await;
    assert_eq!(flow.calls.load(Ordering::SeqCst), 2, "each handler ran once");
    assert!(log.lines_with("deadlock detected").len() >= 2 * ROUNDS, "of the renewal another thread tells");
    worker.shutdown().await.unwrap();
    engine.check().await;

    // What a connection counted is in the statistics once it is closed.
    db.close().await;
    pool.close().await;
    let mut connection = PgConnection::connect(engine.url()).await.unwrap();
    let count = "select d.deadlocks from pg_stat_database d where d.datname = current_database()";
    let mut counted = 0;
    eventually("the server has counted them", async || {
        counted = sqlx::query_scalar::<_, i64>(count).fetch_one(&mut connection).await.unwrap();
        usize::try_from(counted).unwrap() >= raised
    })
    .await;
    assert_eq!(usize::try_from(counted).unwrap(), raised, "no other deadlock");
}

/// Makes a table one of two parts, between which a row is moved by its column `side`. Whoever waits for a row that is moved meanwhile is
/// refused with a serialization failure, also under read committed.
async fn cut_in_two(engine: &Engine, table: &str, key: &str) {
    let cut = format!(
        "alter table flow.{table} rename to {table}_whole;
         create table flow.{table} (like flow.{table}_whole including defaults, side integer not null default 0,
                                    primary key ({key}, side)) partition by list (side);
         create table flow.{table}_0 partition of flow.{table} for values in (0);
         create table flow.{table}_1 partition of flow.{table} for values in (1);
         insert into flow.{table} select w.*, 0 from flow.{table}_whole w"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(cut)).execute(engine.pool()).await.unwrap();
}

/// Moves rows under a call that waits for them, so often; returns what the server has told bystanders who waited for the same rows.
async fn moved(
    pool: &PgPool,
    call: &'static str,
    moving: &'static str,
    looking: &'static str,
    now: impl Fn(),
) -> Vec<String> {
    let mut told = Vec::new();
    while told.len() < ROUNDS {
        let mut rival = pool.begin().await.unwrap();
        assert!(sqlx::raw_sql(moving).execute(&mut *rival).await.unwrap().rows_affected() > 0);
        now();
        let bystander = tokio::spawn({
            let pool = pool.clone();
            async move { sqlx::raw_sql(looking).execute(&pool).await }
        });
        eventually("the call and the bystander wait", async || {
            (waiting(pool, call).await, waiting(pool, looking).await) == (1, 1)
        })
        .await;
        rival.commit().await.unwrap();
        let error = bystander.await.unwrap().unwrap_err();
        told.push(error.as_database_error().unwrap().code().unwrap().into_owned());
    }
    told
}

// L15
#[tokio::test]
async fn a_serialization_failure_in_claim_renewal_or_settlement_costs_nothing() {
    let (log, _guard) = Log::begin();
    let engine = Engine::of_rows().await;
    let pool = engine.pool().clone();
    let (db, flow) = (Db::new(engine.url()).unwrap(), Numbered::default());
    // Deployed, and with all its runs, before the tables are cut.
    Worker::builder(&db).flow(flow.clone()).build().unwrap().start().await.unwrap().shutdown().await.unwrap();
    for input in 0..4 {
        engine.start("numbered", input).await;
    }
    cut_in_two(&engine, "hand", "worker_id, batch").await;
    cut_in_two(&engine, "run", "run_id").await;
    let worker = flow.start(&engine, &db).await;
    cut_in_two(&engine, "process", "process_id").await;
    flow.called(1).await;
    let refused = async |times: usize| {
        let text = "was already moved to another partition";
        eventually("the worker has been told", async || log.lines_with(text).len() == times).await;
    };
    let all = vec!["40001"; ROUNDS];

    // Settlement of the first run.
    let told = moved(
        &pool,
        "flow.exchange",
        "update flow.run set side = 1 - side where input = '0'",
        "select from flow.run where input = '0' for update",
        || flow.let_end(1),
    )
    .await;
    assert_eq!(told, all);
    refused(ROUNDS).await;
    flow.called(2).await;

    // Renewal.
    let wake = format!("select pg_notify('flow_worker', '{}')", worker.worker_id());
    sqlx::raw_sql(sqlx::AssertSqlSafe(wake)).execute(&pool).await.unwrap();
    let told = moved(
        &pool,
        "flow.heartbeat",
        "update flow.process set side = 1 - side where stopped_at is null",
        "select from flow.process where stopped_at is null for update",
        || (),
    )
    .await;
    assert_eq!(told, all);
    let seen = "select count(*) from flow.process p where p.stopped_at is null and p.seen_at > now() - interval '5 s'";
    eventually("the lease is renewed", async || engine.value::<i64>(seen).await == 1).await;

    // A claim, with the settlement of the second run: it forgets the rows of the hand that are answered for. The run after it has its row.
    flow.let_end(2);
    flow.called(3).await;
    let told = moved(
        &pool,
        "flow.exchange",
        "update flow.hand set side = 1 - side",
        "select from flow.hand for update",
        || flow.let_end(3),
    )
    .await;
    assert_eq!(told, all);
    refused(2 * ROUNDS).await;
    flow.called(4).await;
    flow.let_end(4);
    check(&engine, 4).await;
    assert_eq!(flow.calls.load(Ordering::SeqCst), 4, "each handler ran once");
    worker.shutdown().await.unwrap();
}
