//! The end of a worker, as the database saw it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use flow_runtime::{RunningWorker, error::WorkerError, prelude::*};
use flow_tests::{
    flows::Successor,
    support::{TestDb, eventually},
};

use crate::process;

/// From here on the database writes down, in their order, the claims, releases and settlements of map tasks by their items, and the ends of
/// workers and processes.
const WATCH: &str = "
create table test.seen (id bigint generated always as identity, what text not null);
create function test.see() returns trigger language plpgsql as $$
declare
    v_what text;
begin
    if tg_table_name = 'task' then
        v_what := case when old.worker_id is null and new.worker_id is not null then 'claim'
                       when old.status = 'started' and new.status = 'queued' then 'release'
                       when old.status = 'started' and new.status = 'completed' then 'settle' end || ' ' || (new.item #>> '{}');
    elsif old.stopped_at is null and new.stopped_at is not null then
        v_what := tg_table_name || ' stopped';
    end if;
    insert into test.seen (what) select v_what where v_what is not null;
    return null;
end $$;
create trigger see after update on flow.task for each row execute function test.see();
create trigger see after update on flow.worker for each row execute function test.see();
create trigger see after update on flow.process for each row execute function test.see();";

/// Ends when it may, or never.
#[derive(Clone, Default)]
struct Ends {
    running: Arc<AtomicUsize>,
    may_end: Arc<AtomicBool>,
    /// Handlers that were told or dropped before they ended.
    cut: Arc<AtomicUsize>,
}

/// Counts a handler that is dropped.
struct Cut(Arc<AtomicUsize>);

impl Drop for Cut {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[flow(input = Vec<String>)]
impl Ends {
    #[map(over = input)]
    async fn act(&self, item: String) -> Result<String, StepError> {
        self.running.fetch_add(1, Ordering::SeqCst);
        let cut = Cut(Arc::clone(&self.cut));
        while item != "ends" || !self.may_end.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        std::mem::forget(cut);
        Ok(item)
    }
}

async fn seen(test: &TestDb) -> Vec<String> {
    sqlx::query_scalar("select s.what from test.seen s order by s.id").fetch_all(test.pool()).await.unwrap()
}

async fn number(test: &TestDb, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(test.pool()).await.unwrap()
}

async fn words(test: &TestDb, query: &'static str) -> String {
    sqlx::query_scalar::<_, String>(query).fetch_all(test.pool()).await.unwrap().join(" ")
}

async fn start(db: &Db, flow: &Ends, grace: Duration) -> RunningWorker {
    let worker = Worker::builder(db).flow(flow.clone()).concurrency(4).grace(grace).lease(Duration::from_secs(600));
    worker.build().unwrap().start().await.unwrap()
}

// L8
#[tokio::test]
async fn a_shutdown_goes_in_its_order() {
    let test = TestDb::new().await;
    sqlx::raw_sql(WATCH).execute(test.pool()).await.unwrap();
    let (db, flow) = (Db::new(test.url()).unwrap(), Ends::default());
    let worker = start(&db, &flow, Duration::from_secs(3)).await;
    let client = Client::new(&Db::new(test.url()).unwrap());
    let run = async |item: &str| client.start::<Ends>(&vec![item.to_owned()]).await.unwrap();
    run("ends").await;
    eventually("the first handler runs", async || flow.running.load(Ordering::SeqCst) == 1).await;
    run("never").await;
    eventually("both handlers run", async || flow.running.load(Ordering::SeqCst) == 2).await;

    // The next claim waits for whoever has just written rows of this worker's hand, and its reply comes when the worker drains.
    sqlx::raw_sql("alter function flow.exchange set lock_timeout = '60s'").execute(test.pool()).await.unwrap();
    let mut rival = test.pool().begin().await.unwrap();
    sqlx::query(
        "insert into flow.hand (worker_id, batch, is_exchange, runs, steps, tasks, batches)
         select $1, b, false, '{}', '{}', '{}', '{}' from generate_series(1, 10000) b on conflict do nothing",
    )
    .bind(worker.worker_id())
    .execute(&mut *rival)
    .await
    .unwrap();
    run("unbegun").await;
    let waiting =
        "select count(*) from pg_stat_activity a where a.wait_event_type = 'Lock' and a.query like '%flow.exchange%'";
    eventually("the claim waits", async || number(&test, waiting).await == 1).await;
    let meanwhile = async {
        rival.rollback().await.unwrap();
        run("unclaimed").await;
        eventually("what has not begun is given back", async || {
            seen(&test).await.contains(&"release unbegun".to_owned())
        })
        .await;
        assert_eq!(flow.cut.load(Ordering::SeqCst), 0, "nobody is told before the grace is over");
        flow.may_end.store(true, Ordering::SeqCst);
    };
    let (stopped, ()) = tokio::join!(worker.shutdown(), meanwhile);
    stopped.unwrap();
    assert_eq!(
        seen(&test).await,
        [
            "claim ends",
            "claim never",
            "claim unbegun",
            "release unbegun",
            "settle ends",
            "release never",
            "worker stopped",
            "process stopped"
        ]
    );
    assert_eq!((flow.running.load(Ordering::SeqCst), flow.cut.load(Ordering::SeqCst)), (2, 1));
    let tasks = "select concat(t.item #>> '{}', '=', t.status, '/', t.attempt) from flow.task t order by 1";
    assert_eq!(words(&test, tasks).await, "ends=completed/1 never=queued/0 unbegun=queued/0 unclaimed=queued/0");
    let own = "select count(*) from pg_stat_activity a
               where a.datname = current_database() and a.application_name ~ '^flow [0-9a-f]{32}$'";
    // The listening connection stays with the program for a while.
    eventually("its connections are closed", async || number(&test, own).await <= 1).await;
}

// L9
#[tokio::test(flavor = "multi_thread")]
async fn a_process_told_to_end_in_mid_work_settles_what_its_handler_does_and_starts_nothing_itself() {
    let test = TestDb::new().await;
    let mut first = process::start(&["successor", test.url(), "30000"]);
    eventually("the flow is deployed", async || number(&test, "select count(*) from flow.worker").await == 1).await;
    let client = Client::new(&Db::new(test.url()).unwrap());
    let run = client.start::<Successor>(&1).await.unwrap();
    first.line_with("first 1");
    first.signal("TERM");
    first.line_with("started ");
    let (is_success, error) = first.ended().await;
    assert!(is_success, "{error}");
    assert_eq!(first.rest(), Vec::<String>::new(), "nothing else began here");
    let work = "select concat(r.input, '.', t.step, '=', t.status, '/', t.attempt) from flow.tasks t join flow.runs r using (run_id) order by 1";
    assert_eq!(words(&test, work).await, "1.first=completed/1 1.second=queued/0 2.first=queued/0");
    assert_eq!(number(&test, "select count(*) from flow.worker w where w.stopped_at is null").await, 0);

    let mut other = process::start(&["successor", test.url(), "30000"]);
    assert_eq!(run.wait().await.unwrap().second, 1);
    eventually("both runs are completed", async || {
        number(&test, "select count(*) from flow.run r where r.status = 'completed'").await == 2
    })
    .await;
    other.signal("TERM");
    assert!(other.ended().await.0);
    let mut calls = other.rest();
    calls.sort();
    assert_eq!(calls, ["first 2", "second 1", "second 2", "starting"]);
    assert_eq!(number(&test, "select count(*) from flow.attempt_error").await, 0);
    assert_eq!(number(&test, "select count(*) from flow.tasks t where t.attempt <> 1").await, 0);
}

// L11
#[tokio::test]
async fn a_shutdown_that_times_out_goes_on_and_is_called_again() {
    let test = TestDb::new().await;
    sqlx::raw_sql(WATCH).execute(test.pool()).await.unwrap();
    let (db, flow) = (Db::new(test.url()).unwrap(), Ends::default());
    let worker = start(&db, &flow, Duration::ZERO).await;
    Client::new(&Db::new(test.url()).unwrap()).start::<Ends>(&vec!["never".to_owned()]).await.unwrap();
    eventually("the handler runs", async || flow.running.load(Ordering::SeqCst) == 1).await;
    // Neither what it gives back nor its goodbye gets through.
    let mut rival = test.pool().begin().await.unwrap();
    sqlx::query("select from flow.worker for update").execute(&mut *rival).await.unwrap();
    let (one, two) = tokio::join!(worker.shutdown(), worker.shutdown());
    assert!(
        matches!((&one, &two), (Err(WorkerError::StillDraining), Err(WorkerError::StillDraining))),
        "{one:?} {two:?}"
    );
    assert_eq!(seen(&test).await, ["claim never"]);
    rival.rollback().await.unwrap();
    let (one, two) = tokio::join!(worker.shutdown(), worker.shutdown());
    one.unwrap();
    two.unwrap();
    let all = ["claim never", "release never", "worker stopped", "process stopped"];
    assert_eq!(seen(&test).await, all, "one drain, each part of it once");
    let rows = "select jsonb_build_object('w', to_jsonb(w), 'p', to_jsonb(p), 'x', w.xmin::text || p.xmin::text)::text
                from flow.worker w, flow.process p";
    let before = words(&test, rows).await;
    worker.shutdown().await.unwrap();
    worker.stopped().await.unwrap();
    assert_eq!((words(&test, rows).await, seen(&test).await), (before, all.map(str::to_owned).to_vec()));
}

// L13
#[tokio::test]
async fn a_pool_of_the_callers_is_never_closed_and_an_own_one_once() {
    let test = TestDb::new().await;
    let flow = Ends::default();
    flow.may_end.store(true, Ordering::SeqCst);
    let work = async |db: &Db| {
        let worker = start(db, &flow, Duration::from_secs(3)).await;
        let run = Client::new(db).start::<Ends>(&vec!["ends".to_owned()]).await.unwrap();
        assert_eq!(run.wait().await.unwrap().act, ["ends"]);
        worker
    };
    let options = sqlx::postgres::PgPoolOptions::new().max_connections(3);
    let pool = options.connect(test.url()).await.unwrap();
    let given = Db::from_pool(pool.clone());
    work(&given).await.shutdown().await.unwrap();
    assert!(!pool.is_closed(), "a worker's shutdown has closed it");
    given.close().await;
    given.clone().managed(true).close().await;
    drop(work(&given).await);
    drop(given);
    assert!(!pool.is_closed());
    sqlx::query("select 1").execute(&pool).await.unwrap();

    assert!(test.url().contains('?'), "so that an option is added by &");
    let own = Db::new(&format!("{}&application_name=its_own", test.url())).unwrap();
    let connections = "select count(*) from pg_stat_activity a
                       where a.datname = current_database() and a.application_name = 'its_own'";
    work(&own).await.shutdown().await.unwrap();
    assert!(number(&test, connections).await >= 1, "a worker's shutdown has closed it");
    let client = Client::new(&own);
    client.start::<Ends>(&vec![]).await.unwrap();
    let managed = own.clone().managed(true);
    tokio::join!(own.close(), managed.close());
    eventually("its connections are gone", async || number(&test, connections).await == 0).await;
    own.close().await;
    assert!(client.start::<Ends>(&vec![]).await.is_err());
    assert_eq!(number(&test, connections).await, 0, "nothing opens it again");
}
