//! Programs of different ages on one database, each in a process of its own: who migrates, who goes on, who is refused.

use std::time::Duration;

use flow_runtime::{
    error::{DbError, MigrateError},
    prelude::*,
};
use flow_tests::{
    flows::Tick,
    support::{Process, TestDb, eventually},
};
use sqlx::{Connection, PgConnection};

use crate::process::start;

async fn number(test: &TestDb, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(test.pool()).await.unwrap()
}

async fn run_sql(test: &TestDb, sql: &'static str) {
    sqlx::raw_sql(sql).execute(test.pool()).await.unwrap();
}

/// An empty database in which every making of an object is written down, and waits while a test holds lock 42.
async fn watched() -> TestDb {
    let test = TestDb::new().await;
    run_sql(
        &test,
        "drop schema flow cascade; drop schema if exists pgmq cascade;
         create table public.made (what text, object text);
         create function public.hold() returns event_trigger language plpgsql as $$ begin
             perform pg_advisory_lock_shared(42);
             perform pg_advisory_unlock_shared(42);
         end $$;
         create function public.note() returns event_trigger language plpgsql as $$ begin
             insert into public.made select c.command_tag, c.object_identity from pg_event_trigger_ddl_commands() c;
         end $$;
         create event trigger hold on ddl_command_start execute function public.hold();
         create event trigger note on ddl_command_end execute function public.note()",
    )
    .await;
    test
}

/// Everything that a migration could change: the objects of the schema, each with the transaction that wrote it last, and
/// the rows that say what was applied.
const SCHEMA: &str = "
    select jsonb_build_array(
        (select jsonb_agg(jsonb_build_array(p.oid, p.xmin::text, p.prosrc) order by p.oid) from pg_proc p
         where p.pronamespace = 'flow'::regnamespace),
        (select jsonb_agg(jsonb_build_array(c.oid, c.relname, c.relnatts) order by c.oid) from pg_class c
         where c.relnamespace = 'flow'::regnamespace),
        (select jsonb_agg(jsonb_build_array(m.xmin::text, m.*) order by m.version) from flow.migration m),
        (select jsonb_agg(jsonb_build_array(f.xmin::text, f.*) order by f.name) from flow.sql_function f),
        (select jsonb_agg(jsonb_build_array(s.xmin::text, s.*) order by s.name) from flow.setting s))";

async fn schema(test: &TestDb) -> serde_json::Value {
    sqlx::query_scalar(SCHEMA).fetch_one(test.pool()).await.unwrap()
}

// P17
#[tokio::test(flavor = "multi_thread")]
async fn ten_processes_at_the_door_of_an_empty_database_migrate_it_once() {
    let test = watched().await;
    let mut gate = PgConnection::connect(test.url()).await.unwrap();
    sqlx::query("select pg_advisory_lock(42)").execute(&mut gate).await.unwrap();
    let mut processes: Vec<Process> = (0..10).map(|_| start(&["migrate", test.url()])).collect();
    // One has begun and waits for the test; nine wait for that one, or would make the same things beside it.
    eventually("ten processes wait", async || {
        let waiting = "select count(*) from pg_stat_activity a where a.datname = current_database()
                       and a.application_name = 'flow' and a.wait_event_type = 'Lock'";
        number(&test, waiting).await == 10
    })
    .await;
    sqlx::query("select pg_advisory_unlock(42)").execute(&mut gate).await.unwrap();
    for process in &mut processes {
        let (is_success, error) = process.ended().await;
        assert!(is_success, "{error}");
    }

    let twice = "select count(*) from (select from public.made m where m.what like 'CREATE%' and m.object like 'flow.%'
                 group by m.what, m.object having count(*) > 1) t";
    assert_eq!(number(&test, twice).await, 0, "something was made twice");
    let functions = "select count(*) from public.made m where m.what = 'CREATE FUNCTION' and m.object like 'flow.%'";
    assert!(number(&test, functions).await > 50);
    let versions = "select count(*) - max(m.version) from flow.migration m";
    assert_eq!(number(&test, versions).await, 0, "each migration is recorded once");

    let (applied, made) = (schema(&test).await, number(&test, "select count(*) from public.made").await);
    let mut again = start(&["migrate", test.url()]);
    assert!(again.ended().await.0);
    assert_eq!(schema(&test).await, applied, "a second migration wrote something");
    assert_eq!(number(&test, "select count(*) from public.made").await, made);
}

// P24
#[tokio::test(flavor = "multi_thread")]
async fn a_locked_out_or_cancelled_try_is_not_remembered() {
    let test = TestDb::new().await;
    let managed = Db::new(test.url()).unwrap().managed(true);
    let migrating = Db::new(test.url()).unwrap();
    let mut locker = PgConnection::connect(test.url()).await.unwrap();
    for _ in 0..2 {
        let mut locked = locker.begin().await.unwrap();
        sqlx::query("lock table flow.migration in access exclusive mode").execute(&mut *locked).await.unwrap();
        let error = managed.ready(Some(Duration::from_millis(300))).await.unwrap_err();
        assert!(matches!(error, MigrateError::Db(DbError::Unreachable { .. } | DbError::Other(_))), "{error:?}");
        // Cancelled from outside, at several places.
        for pause_ms in [0, 1, 3, 10, 100] {
            let pause = Duration::from_millis(pause_ms);
            assert!(tokio::time::timeout(pause, managed.ready(None)).await.is_err());
            assert!(tokio::time::timeout(pause, migrating.migrate()).await.is_err());
        }
        locked.rollback().await.unwrap();
        managed.ready(None).await.unwrap();
        migrating.migrate().await.unwrap();
    }
}

/// Waits until `count` workers were ever registered and one of them is alive.
async fn registered(test: &TestDb, count: i64) {
    eventually("the worker is registered", async || {
        number(test, "select count(*) from flow.worker").await == count
            && number(test, "select count(*) from flow.worker where stopped_at is null").await == 1
    })
    .await;
}

/// A worker completes a run.
async fn check_works(client: &Client, number: u32) {
    let run = client.start::<Tick>(&number).await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(30), run.wait()).await.expect("a worker is at work");
    assert_eq!(ended.unwrap().only, number);
}

// P26
#[tokio::test(flavor = "multi_thread")]
async fn a_program_of_the_previous_interface_works_on_until_it_is_too_old() {
    let test = TestDb::new().await;
    let client = Client::connect(test.url()).await.unwrap();
    let mut worker = start(&["tick", test.url(), "30000"]);
    registered(&test, 1).await;
    check_works(&client, 1).await;

    // A newer program migrates; it speaks this interface too. The worker goes on, also when restarted.
    run_sql(
        &test,
        "create table flow.newer (); insert into flow.migration (version, checksum) values (999, 'newer');
         update flow.sql_function set checksum = 'newer'; update flow.setting set value = '2' where name = 'interface';
         select pg_notify('flow_queue', '*'), pg_notify('flow_worker', '*')",
    )
    .await;
    let newer = schema(&test).await;
    check_works(&client, 2).await;
    worker.signal("TERM");
    assert!(worker.ended().await.0);
    let mut worker = start(&["tick", test.url(), "30000"]);
    registered(&test, 2).await;
    check_works(&client, 3).await;
    let mut migration = start(&["migrate", test.url()]);
    assert!(migration.ended().await.0);
    assert_eq!(schema(&test).await, newer, "the older program changed something");

    // The next one no longer does. A run that starts in the same transaction shows that nothing is claimed after it.
    run_sql(
        &test,
        "begin; update flow.setting set value = '3' where name = 'interface';
         update flow.setting set value = '2' where name = 'oldest_interface'; select flow.start_run('tick', '4'); commit",
    )
    .await;
    let newest = schema(&test).await;
    let (is_success, error) = worker.ended().await;
    assert!(!is_success && error.contains("interface 1") && error.contains("speaks 2"), "{error}");
    for args in [&["tick", test.url(), "30000"][..], &["migrate", test.url()]] {
        let (is_success, error) = start(args).ended().await;
        assert!(!is_success, "{args:?}");
        assert!(error.contains("speaks interface 1, the database speaks 2 to 3"), "{error}");
    }
    assert_eq!(schema(&test).await, newest);
    let task = "select t.attempt::bigint from flow.tasks t where t.status = 'queued'";
    assert_eq!(number(&test, task).await, 0, "no attempt was used");
    let facts = "select count(*) from flow.runs where status = 'completed'";
    assert_eq!((number(&test, facts).await, number(&test, "select count(*) from flow.attempt_error").await), (3, 0));
    let error = client.start::<Tick>(&5).await.map(drop);
    assert!(error.is_ok(), "what a client calls by name has not changed: {error:?}");
}
