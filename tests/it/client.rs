//! Handles of runs: waiting, status, step outputs, and clear refusals.

use std::{sync::Arc, time::Duration};

use flow_runtime::{
    RunStatus,
    error::{DbError, RunError, StartError},
    prelude::*,
};
use flow_tests::{
    flows::{Order, Orders, OrdersStep},
    support::TestDb,
};
use serde_json::json;
use sqlx::Connection;
use tokio::sync::Semaphore;
use uuid::Uuid;

/// Three steps, the second of which waits for a permit.
struct Gate {
    open: Arc<Semaphore>,
}

#[flow(input = String, max_attempts = 1)]
impl Gate {
    #[step]
    async fn before(&self, input: String) -> Result<String, StepError> {
        Ok(input)
    }

    #[step]
    async fn gate(&self, before: String) -> Result<String, StepError> {
        self.open.acquire().await?.forget();
        if before == "bad" { Err(StepError::new("the gate is shut")) } else { Ok(before) }
    }

    #[step]
    async fn after(&self, gate: String) -> Result<String, StepError> {
        Ok(gate)
    }
}

async fn gate(db: &Db) -> (flow_runtime::RunningWorker, Arc<Semaphore>) {
    let open = Arc::new(Semaphore::new(0));
    let flow = Gate { open: Arc::clone(&open) };
    (Worker::builder(db).flow(flow).build().unwrap().start().await.unwrap(), open)
}

// H1
#[tokio::test]
async fn wait_tells_how_a_run_ended() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let (worker, open) = gate(&db).await;
    open.add_permits(2);
    let client = Client::new(&db);
    let good = client.start::<Gate>(&"good".to_owned()).await.unwrap();
    assert_eq!(good.wait().await.unwrap().after, "good");
    assert_eq!(good.wait().await.unwrap().after, "good", "also when it has ended already");

    let bad = client.start::<Gate>(&"bad".to_owned()).await.unwrap();
    let Err(RunError::Failed { step, error, .. }) = bad.wait().await else { panic!("the run did not fail") };
    assert_eq!((step.as_str(), error.as_str()), ("gate", "the gate is shut"));

    let dropped = client.start::<Gate>(&"dropped".to_owned()).await.unwrap();
    assert_eq!(dropped.cancel().await.unwrap(), RunStatus::Cancelled);
    assert!(matches!(dropped.wait().await, Err(RunError::Cancelled(_))));
    worker.shutdown().await.unwrap();
}

// H4
#[tokio::test]
async fn a_steps_output_is_there_while_the_run_goes_on() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let (worker, open) = gate(&db).await;
    let run = Client::new(&db).start::<Gate>(&"x".to_owned()).await.unwrap();
    flow_tests::support::eventually("the first step is done", async || run.status().await.unwrap().steps_done == 1)
        .await;
    assert_eq!(run.step(Gate::BEFORE).await.unwrap(), StepOutput::Completed("x".to_owned()));
    assert_eq!(run.step(Gate::AFTER).await.unwrap(), StepOutput::Pending);
    let status = run.status().await.unwrap();
    assert_eq!(
        (status.status, status.steps_total, status.tasks_done, status.tasks_known),
        (RunStatus::Started, 3, 1, 2)
    );
    open.add_permits(1);
    run.wait().await.unwrap();
    assert_eq!(run.step(Gate::BEFORE).await.unwrap(), StepOutput::Completed("x".to_owned()));
    let status = run.status().await.unwrap();
    assert_eq!((status.status, status.steps_done, status.tasks_done), (RunStatus::Completed, 3, 3));
    worker.shutdown().await.unwrap();
}

// H5
#[tokio::test]
async fn an_old_run_is_found_by_its_id() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let (worker, open) = gate(&db).await;
    open.add_permits(1);
    let client = Client::new(&db);
    let id = client.start::<Gate>(&"x".to_owned()).await.unwrap().id();
    let old = client.run::<Gate>(id).await.unwrap();
    assert_eq!(old.wait().await.unwrap().after, "x");
    assert_eq!(old.step(Gate::GATE).await.unwrap(), StepOutput::Completed("x".to_owned()));

    let unknown = RunId::from(Uuid::now_v7());
    assert!(matches!(client.run::<Gate>(unknown).await, Err(RunError::NotFound(id)) if id == unknown));
    let error = client.run::<Orders>(id).await.unwrap_err().to_string();
    assert!(error.contains("`gate`") && error.contains("`orders`"), "{error}");
    worker.shutdown().await.unwrap();
}

// H6
#[tokio::test]
async fn a_string_that_looks_like_json_stays_a_string() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let (worker, open) = gate(&db).await;
    open.add_permits(1);
    let text = r#"{"a":1}"#.to_owned();
    let run = Client::new(&db).start::<Gate>(&text).await.unwrap();
    assert_eq!(run.wait().await.unwrap().after, text);
    assert_eq!(run.step(Gate::AFTER).await.unwrap(), StepOutput::Completed(text));
    worker.shutdown().await.unwrap();
}

// H3 H9
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_waiting_handles_share_one_listening_connection() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Orders { announce: false }).build().unwrap().start().await.unwrap();
    let client_db = Db::new(test.url()).unwrap();
    let client = Client::new(&client_db);
    let orders: Vec<Order> = (0..1000).map(|n| Order { items: vec![n.to_string()], pick_ms: 0 }).collect();
    let runs = client.start_many::<Orders>(&orders).await.unwrap();
    let waits: Vec<_> =
        runs.into_iter().map(|run| tokio::spawn(async move { run.wait().await.unwrap().ship })).collect();
    let listening =
        "select count(*) from pg_stat_activity a where a.datname = current_database() and a.query like 'LISTEN%'";
    let listening: i64 = sqlx::query_scalar(listening).fetch_one(test.pool()).await.unwrap();
    assert!(listening <= 2, "one for the worker's process side, one for the client's: {listening}");
    for (n, wait) in waits.into_iter().enumerate() {
        assert_eq!(wait.await.unwrap(), format!("0:{n}"));
    }
    worker.shutdown().await.unwrap();
    flow_tests::support::eventually("no listener is left", async || {
        let left = "select count(*) from pg_stat_activity a where a.datname = current_database() and a.query ilike '%listen%' and a.application_name like 'flow %' and a.wait_event = 'ClientRead' and a.query not like 'UNLISTEN%'";
        sqlx::query_scalar::<_, i64>(left).fetch_one(test.pool()).await.unwrap() == 0
    })
    .await;
}

/// Ends the listening connection of the program `waiter`; returns how many there were.
async fn end_listeners(test: &TestDb) -> i64 {
    let ended = "select count(pg_terminate_backend(a.pid)) from pg_stat_activity a where a.datname = current_database()
                 and a.application_name like 'waiter %' and a.query like 'LISTEN%'";
    sqlx::query_scalar(ended).fetch_one(test.pool()).await.unwrap()
}

/// The database's address for a program that is called `waiter`.
fn as_waiter(test: &TestDb) -> String {
    let mark = if test.url().contains('?') { '&' } else { '?' };
    format!("{}{mark}application_name=waiter", test.url())
}

// H3
#[tokio::test]
async fn one_wait_after_the_other_listens_by_the_same_connection() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let (worker, open) = gate(&db).await;
    open.add_permits(5);
    let client_db = Db::new(&as_waiter(&test)).unwrap();
    let client = Client::new(&client_db);
    let listeners = "select array_agg(a.pid) from pg_stat_activity a where a.datname = current_database()
                     and a.application_name like 'waiter %' and a.query like 'LISTEN%'";
    let listeners = async || sqlx::query_scalar::<_, Option<Vec<i32>>>(listeners).fetch_one(test.pool()).await.unwrap();
    let mut first = None;
    for _ in 0..5 {
        client.start::<Gate>(&"x".to_owned()).await.unwrap().wait().await.unwrap();
        flow_tests::support::eventually("the connection listens", async || listeners().await.is_some()).await;
        let now = listeners().await;
        assert_eq!(*first.get_or_insert_with(|| now.clone()), now);
    }
    client_db.close().await;
    flow_tests::support::eventually("the closed database listens no more", async || listeners().await.is_none()).await;
    worker.shutdown().await.unwrap();
}

// H2
#[tokio::test]
async fn a_wait_outlives_its_listening_connection() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let (worker, open) = gate(&db).await;
    let client = Client::new(&Db::new(&as_waiter(&test)).unwrap());
    for times in [1, 3] {
        let run = client.start::<Gate>(&"x".to_owned()).await.unwrap();
        let wait = tokio::spawn(async move { run.wait().await.unwrap().after });
        for _ in 0..times {
            flow_tests::support::eventually("a listener is killed", async || end_listeners(&test).await == 1).await;
        }
        // The run ends while nobody listens, or just after; a wait without a listener would look again after a minute.
        open.add_permits(1);
        let ended = tokio::time::timeout(Duration::from_secs(30), wait).await.expect("the wait returns");
        assert_eq!(ended.unwrap(), "x");
    }
    worker.shutdown().await.unwrap();
}

#[tokio::test]
async fn json_runs_need_no_types() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Orders { announce: false }).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    let run = client.start_json("orders", &json!({"items": ["tea"], "pick_ms": 0})).await.unwrap();
    assert_eq!(run.wait().await.unwrap(), json!({"ship": "0:TEA"}));
    assert_eq!(run.step("reserve").await.unwrap(), StepOutput::Completed(json!(["0:tea"])));
    let error = run.step("resreve").await.unwrap_err().to_string();
    assert!(error.contains("`orders` has no step `resreve`"), "{error}");
    assert_eq!(client.run_json(run.id()).wait().await.unwrap(), json!({"ship": "0:TEA"}));
    worker.shutdown().await.unwrap();
}

#[tokio::test]
async fn options_of_a_start_reach_the_run() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Orders { announce: false }).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    let order = Order { items: vec![], pick_ms: 0 };
    let id = RunId::from(Uuid::now_v7());
    let first = client.start::<Orders>(&order).run_id(id).idempotency_key("k").await.unwrap();
    assert_eq!(first.id(), id);
    assert_eq!(client.start::<Orders>(&order).idempotency_key("k").await.unwrap().id(), id);
    let later = client.start::<Orders>(&order).start_at(chrono::Utc::now() + Duration::from_secs(600)).await.unwrap();
    assert_eq!(first.wait().await.unwrap().ship, "");
    assert_eq!(later.status().await.unwrap().tasks_done, 0);
    worker.shutdown().await.unwrap();
}

// R8
#[tokio::test]
async fn a_start_in_a_transaction_follows_it() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Orders { announce: false }).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    let order = Order { items: vec!["tea".into()], pick_ms: 0 };
    let mut connection = sqlx::PgConnection::connect(test.url()).await.unwrap();

    let mut transaction = connection.begin().await.unwrap();
    let undone = client.start::<Orders>(&order).start_in(&mut transaction).await.unwrap();
    transaction.rollback().await.unwrap();
    assert!(matches!(undone.status().await, Err(RunError::NotFound(_))));

    let mut transaction = connection.begin().await.unwrap();
    let run = client.start::<Orders>(&order).start_in(&mut transaction).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(run.wait().await.unwrap().ship, "0:TEA");
    worker.shutdown().await.unwrap();
}

#[tokio::test]
async fn refusals_say_what_is_wrong_and_what_to_do() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let order = Order { items: vec![], pick_ms: 0 };
    let error = Client::new(&db).start::<Orders>(&order).await.unwrap_err();
    assert!(matches!(error, StartError::NotDeployed(_)), "{error:?}");
    assert!(error.to_string().contains("start a worker"), "{error}");

    let nowhere = "postgres://me:hidden@127.0.0.1:1/none";
    let error = Client::connect(nowhere).await.unwrap_err();
    assert!(matches!(error, DbError::Unreachable { .. }), "{error:?}");
    let error = Client::connect("mysql://x").await.unwrap_err();
    assert!(matches!(error, DbError::Address { .. }), "{error:?}");

    let (server, _) = test.url().rsplit_once('/').unwrap();
    let error = Client::connect(&format!("{server}/there_is_none")).await.unwrap_err();
    assert!(matches!(error, DbError::NoDatabase { .. }), "{error:?}");

    let bare = format!("{server}/postgres");
    let error = Client::connect(&bare).await.unwrap().start::<Orders>(&order).await.unwrap_err();
    assert!(error.to_string().contains("no schema that this program knows"), "{error}");
}

#[test]
fn the_steps_of_the_flow_are_in_step_order() {
    assert_eq!(OrdersStep::ALL.iter().map(|step| step.as_str()).collect::<Vec<_>>(), ["reserve", "pick", "ship"]);
}

#[test]
fn a_database_outside_of_a_runtime_is_refused_in_words() {
    let error = Db::new("postgres://localhost/app").unwrap_err();
    assert!(matches!(error, DbError::NoRuntime), "{error:?}");
    assert!(error.to_string().contains("#[tokio::main]"), "{error}");
}
