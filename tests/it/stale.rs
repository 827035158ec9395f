//! Statements that were prepared before a function changed: a worker takes new ones over a new connection, once.

use std::time::Duration;

use flow_runtime::prelude::*;
use flow_tests::{
    flows::Tick,
    support::{Log, TestDb},
};
use sqlx::PgPool;

/// Far above what a worker needs to give up.
const LIMIT: Duration = Duration::from_secs(60);

/// Makes `flow.exchange` anew from the text of its definition.
async fn make_anew(pool: &PgPool, change: impl FnOnce(String) -> String) {
    let definition = "select pg_get_functiondef(to_regproc('flow.exchange'))";
    let definition: String = sqlx::query_scalar(definition).fetch_one(pool).await.unwrap();
    let anew = format!("drop function flow.exchange; {}", change(definition));
    sqlx::raw_sql(sqlx::AssertSqlSafe(anew)).execute(pool).await.unwrap();
}

// W23
#[tokio::test]
async fn a_worker_outlives_a_function_whose_result_type_changes() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let (log, _guard) = Log::begin();
    let worker = Worker::builder(&db).flow(Tick).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    for round in 1..=2 {
        assert_eq!(client.start::<Tick>(&1).await.unwrap().wait().await.unwrap().only, 1);
        make_anew(test.pool(), |definition| {
            let end = ")\n RETURNS record";
            assert_eq!(definition.matches(end).count(), 1, "{definition}");
            definition.replace(end, &format!(", OUT p_new_{round} integer{end}"))
        })
        .await;
        let run = client.start::<Tick>(&2).await.unwrap();
        let waited = tokio::time::timeout(LIMIT, run.wait()).await.expect("the worker is gone, or tries for ever");
        assert_eq!(waited.unwrap().only, 2);
        let told = log.lines_with("cached plan must not change result type");
        assert_eq!(told.len(), round, "once a change: {told:#?}");
    }
    worker.shutdown().await.unwrap();
}

// W23
#[tokio::test]
async fn a_statement_that_is_refused_on_a_fresh_connection_too_ends_the_worker() {
    for code in ["0A000", "26000", "42P05"] {
        let test = TestDb::new().await;
        let db = Db::new(test.url()).unwrap();
        let worker = Worker::builder(&db).flow(Tick).build().unwrap().start().await.unwrap();
        let client = Client::new(&db);
        client.start::<Tick>(&1).await.unwrap().wait().await.unwrap();
        make_anew(test.pool(), |definition| {
            let (head, _) = definition.split_once("AS $function$").unwrap();
            format!("{head}AS $function$ begin raise exception 'refused by the test' using errcode = '{code}'; end $function$")
        })
        .await;
        client.start::<Tick>(&2).await.unwrap();
        let stopped = tokio::time::timeout(LIMIT, worker.stopped()).await.expect("the worker tries for ever");
        let error = stopped.unwrap_err();
        assert!(format!("{error:?}").contains("refused by the test"), "{code}: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_a_worker_does_not_know_ends_it_and_is_named() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Tick).build().unwrap().start().await.unwrap();
    make_anew(test.pool(), |definition| {
        let state = "p_state := v_self.state;";
        assert_eq!(definition.matches(state).count(), 1, "{definition}");
        definition.replace(state, "p_state := 'asleep'; return;")
    })
    .await;
    let stopped = tokio::time::timeout(LIMIT, worker.stopped()).await.expect("the worker tries for ever");
    let error = format!("{:?}", stopped.unwrap_err());
    assert!(error.contains("a word that this program does not know") && error.contains("`asleep`"), "{error}");
}
