//! The server that tests share: a template made once, a database a test, and nothing left behind.

use std::sync::atomic::{AtomicU32, Ordering};

use flow_runtime::embedded::{self, EmbeddedError, TestServer};
use flow_tests::support::eventually;
use sqlx::{Connection, PgConnection};

use super::user::{User, user};

/// A text that no other run has used, and the server with its template.
async fn open(fingerprint: &str, made: &AtomicU32) -> Result<TestServer, EmbeddedError> {
    embedded::open_tests(fingerprint, async |url: String| {
        made.fetch_add(1, Ordering::Relaxed);
        let mut connection = PgConnection::connect(&url).await?;
        // Slow enough for the others to come while it is made.
        sqlx::raw_sql("create table t (n int8); select pg_sleep(0.3)").execute(&mut connection).await?;
        // The connection is left open: it must not be in the way of a copy.
        std::mem::forget(connection);
        Ok::<_, sqlx::Error>(())
    })
    .await
}

async fn databases(url: &str, like: &str) -> Vec<String> {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let find = "select d.datname::text from pg_database d where d.datname like $1";
    sqlx::query_scalar(find).bind(like).fetch_all(&mut connection).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_template_is_made_once_and_copied_for_each_test() {
    let fingerprint = format!("once {} {:?}", std::process::id(), std::time::SystemTime::now());
    let made = AtomicU32::new(0);
    let (one, two) = tokio::join!(open(&fingerprint, &made), open(&fingerprint, &made));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(made.load(Ordering::Relaxed), 1);

    let (a, b) = (one.database().await.unwrap(), two.database().await.unwrap());
    assert_ne!(a.url(), b.url());
    let mut connection = PgConnection::connect(a.url()).await.unwrap();
    sqlx::raw_sql("insert into t values (1)").execute(&mut connection).await.unwrap();
    let mut other = PgConnection::connect(b.url()).await.unwrap();
    let rows: i64 = sqlx::query_scalar("select count(*) from t").fetch_one(&mut other).await.unwrap();
    assert_eq!(rows, 0);

    let name = a.url().rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    assert_eq!(databases(b.url(), &name).await, std::slice::from_ref(&name));
    drop(a);
    assert!(databases(b.url(), &name).await.is_empty());
}

#[tokio::test]
async fn a_failed_migration_is_told_and_tried_again() {
    let fingerprint = format!("fails {} {:?}", std::process::id(), std::time::SystemTime::now());
    let failed = embedded::open_tests(&fingerprint, async |_| Err("no such table")).await;
    let Err(EmbeddedError::Migrate(cause)) = failed else { panic!("it was taken for complete") };
    assert_eq!(cause.to_string(), "no such table");
    let made = AtomicU32::new(0);
    open(&fingerprint, &made).await.unwrap();
    assert_eq!(made.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn the_database_of_a_killed_test_is_removed_by_the_next() {
    let killed = User::start(&mut user("tests"));
    let name = killed.url.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let alive = User::start(&mut user("tests"));
    assert_eq!(databases(&alive.url, &name).await, std::slice::from_ref(&name));
    killed.kill();
    eventually("a later process removes it", async || {
        User::start(&mut user("tests")).leave();
        databases(&alive.url, &name).await.is_empty()
    })
    .await;
    alive.leave();
}
