//! PgBouncer between programs and the server, in session and in transaction mode.

use flow_runtime::{
    error::{DbError, DeployError, WorkerError},
    prelude::*,
};
use flow_tests::{
    flows::Tick,
    support::{Log, Pooler, TestDb},
};
use sqlx::{Connection, Executor, PgConnection, Row};

// W16
#[tokio::test]
async fn a_worker_behind_a_pool_in_session_mode_works() {
    let test = TestDb::new().await;
    let Some(pooler) = Pooler::start(test.url(), "session", 20).await else { return };
    let db = Db::new(pooler.url()).unwrap();
    let worker = Worker::builder(&db).flow(Tick).build().unwrap().start().await.unwrap();
    let runs = Client::new(&db).start_many::<Tick>(&(0..100).collect::<Vec<_>>()).await.unwrap();
    for (number, run) in (0..).zip(&runs) {
        assert_eq!(run.wait().await.unwrap().only, number);
    }
    worker.shutdown().await.unwrap();
}

// W16
#[tokio::test]
async fn a_worker_refuses_a_pool_in_transaction_mode_in_words() {
    let test = TestDb::new().await;
    let Some(pooler) = Pooler::start(test.url(), "transaction", 3).await else { return };
    let worker = Worker::builder(&Db::new(pooler.url()).unwrap()).flow(Tick).build().unwrap();
    let error = worker.start().await.err().unwrap();
    let WorkerError::Deploy(DeployError::Db(DbError::TransactionPooler { .. })) = &error else { panic!("{error:?}") };
    assert!(error.to_string().contains("a pool in session mode"), "{error}");
    assert!(!error.to_string().contains(":p@"), "{error}");
}

// W16
#[tokio::test]
async fn a_client_behind_a_pool_in_transaction_mode_starts_waits_and_reads() {
    let test = TestDb::new().await;
    let direct = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&direct).flow(Tick).build().unwrap().start().await.unwrap();
    // Two server processes for many clients, so that statements of one client meet both.
    let Some(pooler) = Pooler::start(test.url(), "transaction", 2).await else { return };
    let (log, _guard) = Log::begin();
    let clients: Vec<_> = (0..8).map(|_| Client::new(&Db::new(pooler.url()).unwrap())).collect();
    for round in 0..20 {
        let mut runs = Vec::new();
        for client in &clients {
            runs.push(client.start::<Tick>(&round).idempotency_key(format!("it's {round} \\")).await.unwrap());
        }
        assert!(runs.windows(2).all(|pair| pair[0].id() == pair[1].id()), "one key, one run");
        for run in &runs {
            assert_eq!(run.wait().await.unwrap().only, round);
            assert_eq!(run.status().await.unwrap().status.as_str(), "completed");
            assert_eq!(run.step(Tick::ONLY).await.unwrap(), StepOutput::Completed(round));
        }
    }
    assert_eq!(log.lines_with("pooler in transaction mode").len(), clients.len(), "once a database");
    Client::connect(pooler.url()).await.unwrap();
    Db::new(pooler.url()).unwrap().migrate().await.unwrap();
    Db::new(pooler.url()).unwrap().ready(None).await.unwrap();
    worker.shutdown().await.unwrap();

    // Whoever gets the server processes next finds nothing of ours on them.
    let mut next = PgConnection::connect(pooler.url()).await.unwrap();
    let left = "select (select count(*) from pg_listening_channels()) + (select count(*) from pg_prepared_statements)
                     + (select count(*) from pg_locks l where l.locktype = 'advisory' and l.database = (
                            select d.oid from pg_database d where d.datname = current_database()))";
    assert_eq!(next.fetch_one(left).await.unwrap().get::<i64, _>(0), 0);
}
