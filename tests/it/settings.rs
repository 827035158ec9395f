//! Databases, roles and servers that somebody else configured: the same work gives the same rows.

use flow_runtime::{
    error::{DbError, MigrateError, StartError},
    prelude::*,
};
use flow_tests::support::TestDb;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

/// A map, a condition that is met and one that is not, a retry and a failure.
struct Item;

#[flow(input = Vec<u32>, slug = "ItemIndex", max_attempts = 2, base_delay = "0s")]
impl Item {
    #[map(over = input)]
    async fn double(&self, item: u32, ctx: &StepContext) -> Result<u32, StepError> {
        match item {
            3 if ctx.attempt() == 1 => Err(StepError::new("once more, for 3 €")),
            _ => Ok(2 * item),
        }
    }

    #[step(run_if = { "double": [6] })]
    async fn with_six(&self, double: Vec<u32>) -> Result<usize, StepError> {
        Ok(double.len())
    }

    #[step(run_if = { "double": [7] })]
    async fn with_seven(&self, double: Vec<u32>) -> Result<usize, StepError> {
        Ok(double.len())
    }

    #[step(when_exhausted = skip)]
    async fn fails(&self, double: Vec<u32>) -> Result<u32, StepError> {
        Err(StepError::permanent(format!("no use for {} numbers \\ 'quoted'", double.len())))
    }
}

/// Everything that the work left in the database, but for ids and times.
const ROWS: &str = "select jsonb_agg(row_to_json(a) order by a.kind, a.step, a.index) from (
    select 'step' as kind, s.step, 0 as index, s.status::text, s.error, s.output from flow.steps s
    union all select 'task', t.step, t.task_index, t.status::text, t.attempt::text, t.output from flow.tasks t
    union all select 'run', r.flow, 0, r.status::text, r.error, r.output from flow.runs r
    union all select 'error', '', e.task_index, e.cause::text, e.error, null from flow.attempt_error e) a";

/// Works one run off with a client, two workers, a retried run and a prune, and returns the rows that one run left.
async fn work(url: &str) -> anyhow::Result<Value> {
    let db = Db::new(url)?;
    let worker = Worker::builder(&db).flow(Item).build()?.start().await?;
    let second = Worker::builder(&db).flow(Item).name("second").build()?.start().await?;
    let client = Client::new(&db);
    let run = client.start::<Item>(&vec![1, 2, 3]).idempotency_key("it's \\ 1").await?;
    let again = client.start::<Item>(&vec![]).idempotency_key("it's \\ 1").await?;
    anyhow::ensure!(run.id() == again.id(), "one key gave two runs");
    run.wait().await?;
    let mut connection = PgConnection::connect(url).await?;
    let rows = connection.fetch_one(ROWS).await?.try_get(0)?;
    let cancelled = client.start::<Item>(&vec![1]).start_at(chrono::Utc::now() + chrono::Duration::hours(1)).await?;
    anyhow::ensure!(cancelled.cancel().await?.as_str() == "cancelled", "not cancelled");
    worker.shutdown().await?;
    second.shutdown().await?;
    db.close().await;
    Ok(rows)
}

/// Settings that a database may have, each of which changes how a client, a worker or the engine's SQL would work by itself.
const SETTINGS: &[&str] = &[
    "default_transaction_isolation = 'repeatable read'",
    "default_transaction_isolation = 'serializable'",
    "standard_conforming_strings = off",
    "backslash_quote = off",
    "search_path = ''",
    "search_path = pg_temp, public",
    "datestyle = 'German, DMY'",
    "intervalstyle = 'sql_standard'",
    "timezone = 'Australia/Lord_Howe'",
    "extra_float_digits = -15",
    "bytea_output = 'escape'",
    "array_nulls = on",
    "quote_all_identifiers = on",
    "row_security = off",
    "check_function_bodies = off",
    "plan_cache_mode = 'force_custom_plan'",
    "plan_cache_mode = 'force_generic_plan'",
    "jit = on; jit_above_cost = 0; jit_inline_above_cost = 0",
    "work_mem = '64kB'",
    "temp_buffers = '800kB'",
    "enable_indexscan = off; enable_indexonlyscan = off",
    "enable_nestloop = off",
    "cursor_tuple_fraction = 1",
    "force_parallel_mode = on; parallel_setup_cost = 0; min_parallel_table_scan_size = 0",
    "lock_timeout = '3s'",
    "statement_timeout = '20s'",
    "idle_in_transaction_session_timeout = '5s'",
    "synchronous_commit = off",
    "default_text_search_config = 'pg_catalog.simple'",
    "default_toast_compression = 'pglz'",
    "xmloption = 'document'",
    "lc_numeric = 'C'; lc_monetary = 'C'",
    "client_min_messages = 'debug1'",
    "transform_null_equals = on",
];

// P27
#[tokio::test(flavor = "multi_thread")]
async fn no_setting_of_the_database_changes_a_result() {
    let plain = TestDb::new().await;
    let expected = work(plain.url()).await.unwrap();
    assert_eq!(expected.as_array().unwrap().len(), 12, "{expected}");
    for settings in SETTINGS {
        let test = TestDb::new().await;
        let database: String =
            sqlx::query_scalar("select current_database()::text").fetch_one(test.pool()).await.unwrap();
        for setting in settings.split("; ") {
            let alter = format!("alter database {database} set {setting}");
            sqlx::raw_sql(AssertSqlSafe(alter)).execute(test.pool()).await.unwrap();
        }
        let rows = work(test.url()).await.unwrap_or_else(|error| panic!("under {settings}: {error:#}"));
        assert_eq!(rows, expected, "under {settings}");
    }
}

// P27
#[tokio::test(flavor = "multi_thread")]
async fn a_migration_gives_the_same_under_settings_and_a_turkish_locale() {
    let plain = TestDb::new().await;
    let expected = work(plain.url()).await.unwrap();
    let url = plain.empty_sibling("encoding 'UTF8' locale_provider icu icu_locale 'tr-TR' locale 'C.UTF-8'").await;
    let database = url.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    for setting in ["standard_conforming_strings = off", "default_transaction_isolation = 'serializable'"] {
        let alter = format!("alter database {database} set {setting}");
        sqlx::raw_sql(AssertSqlSafe(alter)).execute(plain.pool()).await.unwrap();
    }
    assert_eq!(work(&url).await.unwrap(), expected);
    let mut connection = PgConnection::connect(&url).await.unwrap();
    // The upper-case I is lower-cased as everywhere, whatever the database's locale says of it.
    let queue: String = connection.fetch_one("select q.name::text from flow.queue q").await.unwrap().get(0);
    assert_eq!(queue, "itemindex");
    let wrong = "select lower('I')";
    let lowered: String = connection.fetch_one(wrong).await.unwrap().get(0);
    assert_eq!(lowered, "ı", "this database would have shown the fault");
}

// P27
#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_becomes_another_one_works() {
    let test = TestDb::new().await;
    let owner = test.role("superuser").await;
    let login = test.role(&format!("noinherit in role {}", owner.name)).await;
    let database: String = sqlx::query_scalar("select current_database()::text").fetch_one(test.pool()).await.unwrap();
    let change = format!(
        "alter role {login} set role {owner}; grant all on database {database} to {owner}",
        login = login.name,
        owner = owner.name
    );
    sqlx::raw_sql(AssertSqlSafe(change)).execute(test.pool()).await.unwrap();
    work(&login.url).await.unwrap();
    test.drop_role(login).await;
    test.drop_role(owner).await;
}

// P28
#[tokio::test]
async fn a_database_that_cannot_hold_every_text_is_refused() {
    let test = TestDb::new().await;
    let url = test.empty_sibling("encoding 'LATIN1' locale 'C'").await;
    let db = Db::new(&url).unwrap();
    let error = db.migrate().await.unwrap_err();
    assert!(matches!(&error, MigrateError::Encoding { encoding } if encoding == "LATIN1"), "{error:?}");
    assert!(error.to_string().contains("encoding UTF8"), "{error}");
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let schemas = "select count(*) from pg_namespace n where n.nspname in ('flow', 'pgmq')";
    assert_eq!(connection.fetch_one(schemas).await.unwrap().get::<i64, _>(0), 0, "something was written");
}

// R22
#[tokio::test]
async fn a_transaction_that_would_not_see_others_is_refused_in_words() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    Worker::builder(&db).flow(Item).build().unwrap().start().await.unwrap().shutdown().await.unwrap();
    for level in ["repeatable read", "serializable"] {
        let mut connection = PgConnection::connect(test.url()).await.unwrap();
        for call in [
            "select flow.start_run('ItemIndex', '[]')",
            "select flow.cancel_run(gen_random_uuid())",
            "select flow.retry_run(gen_random_uuid())",
            "select flow.prune(now())",
            "select flow.delete_flow('ItemIndex')",
        ] {
            let text = format!("begin isolation level {level}; {call}");
            let error = connection.execute(AssertSqlSafe(text)).await.unwrap_err();
            let error = error.as_database_error().unwrap();
            assert_eq!(error.code().unwrap(), "WF022", "{call}");
            assert!(error.message().contains(level) && error.message().contains("read committed"), "{error}");
            connection.execute("rollback").await.unwrap();
        }
        let begin = format!("begin isolation level {level}");
        connection.execute(AssertSqlSafe(begin)).await.unwrap();
        let error = Client::new(&db).start::<Item>(&vec![]).start_in(&mut connection).await.unwrap_err();
        assert!(matches!(&error, StartError::Db(DbError::Refused(text)) if text.contains(level)), "{error:?}");
    }
}

// P29
#[tokio::test]
async fn pgmq_from_its_sql_file_is_used_or_named_when_it_is_old() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    db.use_pgmq().await.unwrap();
    // An SQL file leaves the schema as it is here, but nothing that says who installed it.
    sqlx::raw_sql("drop table pgmq.__pgmq_migrations; select flow.set_setting('delivery', 'rows'::text)")
        .execute(test.pool())
        .await
        .unwrap();
    db.use_pgmq().await.unwrap();
    work(test.url()).await.unwrap();
    let delivery = "select string_agg(distinct q.delivery, ' ') from flow.queue q";
    assert_eq!(sqlx::query_scalar::<_, String>(delivery).fetch_one(test.pool()).await.unwrap(), "pgmq");
    for (change, version) in [
        ("alter type pgmq.message_record drop attribute last_read_at", "1.5 to 1.9"),
        ("alter type pgmq.message_record drop attribute headers", "before 1.5"),
    ] {
        sqlx::raw_sql(change).execute(test.pool()).await.unwrap();
        sqlx::raw_sql("select flow.set_setting('delivery', 'rows'::text)").execute(test.pool()).await.unwrap();
        let error = db.use_pgmq().await.unwrap_err();
        assert!(matches!(&error, MigrateError::OldPgmq { .. }), "{error:?}");
        assert!(error.to_string().contains(version) && error.to_string().contains("1.11 or newer"), "{error}");
        let setting = "select s.value #>> '{}' from flow.setting s where s.name = 'delivery'";
        assert_eq!(sqlx::query_scalar::<_, String>(setting).fetch_one(test.pool()).await.unwrap(), "rows");
    }
}

// H10
#[tokio::test]
async fn a_clients_calls_leave_no_state_behind() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    Worker::builder(&db).flow(Item).build().unwrap().start().await.unwrap().shutdown().await.unwrap();
    let pool = sqlx::postgres::PgPoolOptions::new().max_connections(1).connect(test.url()).await.unwrap();
    let client = Client::new(&Db::from_pool(pool.clone()));
    let run = client.start::<Item>(&vec![1]).await.unwrap();
    run.status().await.unwrap();
    run.step(Item::DOUBLE).await.unwrap();
    run.cancel().await.unwrap();
    let prepared: i64 = sqlx::query("select count(*) from pg_prepared_statements where statement like '%flow.%'")
        .persistent(false)
        .fetch_one(&pool)
        .await
        .unwrap()
        .get(0);
    assert_eq!(prepared, 0);
    let locks = "select count(*) from pg_locks l where l.locktype = 'advisory' and l.pid = pg_backend_pid()";
    assert_eq!(sqlx::query_scalar::<_, i64>(locks).fetch_one(&pool).await.unwrap(), 0);
    assert_eq!(json!(run.status().await.unwrap())["status"], "cancelled");
}
