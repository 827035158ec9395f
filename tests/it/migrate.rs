//! Migrating: once, by whoever comes first; never backwards; never in a managed database.

use std::time::Duration;

use flow_runtime::{
    error::{DbError, MigrateError},
    prelude::*,
    schema_fingerprint,
};
use flow_tests::{
    flows::Orders,
    support::{Engine, Graph, TestDb},
};

/// An empty database: the template's schemas are dropped.
async fn empty() -> TestDb {
    let test = TestDb::new().await;
    sqlx::raw_sql("drop schema flow cascade; drop schema if exists pgmq cascade").execute(test.pool()).await.unwrap();
    test
}

async fn text(test: &TestDb, query: &'static str) -> String {
    sqlx::query_scalar(query).fetch_one(test.pool()).await.unwrap()
}

/// What a migration would change: when each was applied, and the transaction that wrote each function's row.
const APPLIED: &str = "select (select string_agg(m.version || ' ' || m.applied_at, ',') from flow.migration m)
                       || (select string_agg(f.name || f.xmin, ',' order by f.name) from flow.sql_function f)";

// P17
#[tokio::test(flavor = "multi_thread")]
async fn ten_processes_migrate_an_empty_database_once() {
    let test = empty().await;
    // A `Db` each has connections of its own, as a process has.
    let migrations = (0..10).map(|_| {
        let db = Db::new(test.url()).unwrap();
        tokio::spawn(async move { db.migrate().await })
    });
    for migration in migrations.collect::<Vec<_>>() {
        migration.await.unwrap().unwrap();
    }
    let applied = text(&test, APPLIED).await;
    Db::new(test.url()).unwrap().migrate().await.unwrap();
    assert_eq!(text(&test, APPLIED).await, applied, "a second migration wrote something");
}

#[tokio::test]
async fn a_changed_function_is_made_anew() {
    let test = TestDb::new().await;
    sqlx::raw_sql(
        "drop function flow.uuid_v7(); update flow.sql_function set checksum = 'another' where name = 'uuid_v7'",
    )
    .execute(test.pool())
    .await
    .unwrap();
    Db::new(test.url()).unwrap().migrate().await.unwrap();
    assert_eq!(text(&test, "select flow.uuid_v7()::text").await.len(), 36);
}

// P26
#[tokio::test]
async fn functions_and_views_of_an_older_set_do_not_stand_in_the_way_of_this_ones() {
    let test = TestDb::new().await;
    let objects = "select string_agg(o, ' ' order by o) from (
            select p.oid::regprocedure::text || p.prorettype::regtype as o from pg_proc p where p.pronamespace = 'flow'::regnamespace
            union all
            select a.attrelid::regclass || '.' || a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
            where c.relnamespace = 'flow'::regnamespace and c.relkind = 'v' and a.attnum > 0
        ) o";
    let before = text(&test, objects).await;
    let older = "
        -- Another result, where a view reads it.
        drop view flow.queues, flow.workers;
        drop function flow.is_alive;
        create function flow.is_alive(flow.worker) returns integer language sql as 'select 1';
        create view flow.workers as select w.worker_id, flow.is_alive(w) as is_alive from flow.worker w;
        -- Another column at the place of one.
        create view flow.queues as select q.name as older from flow.queue q;
        -- A parameter less, and a function that is no more.
        drop function flow.uuid_v7;
        create function flow.uuid_v7(p_at timestamptz, p_more integer) returns uuid language sql as 'select gen_random_uuid()';
        create function flow.no_more() returns integer language sql as 'select 1';
        create view flow.no_more_either as select flow.no_more() as one;
        update flow.sql_function set checksum = 'older' where name in ('is_alive', 'show_workers', 'show_queues', 'uuid_v7');
        insert into flow.sql_function (name, checksum) values ('show_no_more_either', 'older'), ('no_more', 'older');";
    sqlx::raw_sql(older).execute(test.pool()).await.unwrap();
    Db::new(test.url()).unwrap().migrate().await.unwrap();
    assert_eq!(text(&test, objects).await, before);
}

#[tokio::test]
async fn a_migration_that_was_applied_with_another_text_is_refused() {
    let test = TestDb::new().await;
    sqlx::raw_sql("update flow.migration set checksum = 'x'; update flow.sql_function set checksum = 'x'")
        .execute(test.pool())
        .await
        .unwrap();
    let error = Db::new(test.url()).unwrap().migrate().await.unwrap_err();
    assert!(matches!(error, MigrateError::Changed { version: 1 }), "{error:?}");
    assert_eq!(text(&test, "select min(f.checksum) from flow.sql_function f").await, "x", "nothing was half applied");
}

// P26
#[tokio::test]
async fn a_newer_schema_is_left_alone_and_refused_when_it_no_longer_speaks_our_interface() {
    let test = TestDb::new().await;
    sqlx::raw_sql("insert into flow.migration (version, checksum) values (999, 'of a newer program')")
        .execute(test.pool())
        .await
        .unwrap();
    sqlx::raw_sql("update flow.sql_function set checksum = 'newer'").execute(test.pool()).await.unwrap();
    let db = Db::new(test.url()).unwrap();
    db.migrate().await.unwrap();
    assert_eq!(text(&test, "select min(f.checksum) from flow.sql_function f").await, "newer");
    let worker = Worker::builder(&db).flow(Orders { announce: false }).build().unwrap().start().await.unwrap();

    sqlx::raw_sql("update flow.setting set value = '7' where name in ('interface', 'oldest_interface')")
        .execute(test.pool())
        .await
        .unwrap();
    sqlx::raw_sql("select pg_notify('flow_queue', '*')").execute(test.pool()).await.unwrap();
    let error = worker.stopped().await.unwrap_err().to_string();
    assert!(error.contains("interface 1") && error.contains('7'), "{error}");
    for error in [db.migrate().await.unwrap_err(), db.ready(None).await.unwrap_err()] {
        assert!(matches!(error, MigrateError::TooNew { ours: 1, oldest: 7, newest: 7 }), "{error:?}");
        assert!(error.to_string().contains("build the program with a newer flow"), "{error}");
    }
}

// P22
#[tokio::test]
async fn a_managed_worker_needs_no_right_to_make_anything() {
    let test = TestDb::new().await;
    let graph_of_nothing = Graph::new("unused").single("a", &[]);
    let db = Db::new(test.url()).unwrap();
    // Deployed once by somebody with all rights.
    Worker::builder(&db)
        .flow(Orders { announce: false })
        .build()
        .unwrap()
        .start()
        .await
        .unwrap()
        .shutdown()
        .await
        .unwrap();

    let role = test.worker_role("").await;
    let db = Db::new(&role.url).unwrap().managed(true);
    let worker = Worker::builder(&db).flow(Orders { announce: false }).build().unwrap().start().await.unwrap();
    let order = flow_tests::flows::Order { items: vec!["tea".into()], pick_ms: 0 };
    let run = Client::new(&db).start::<Orders>(&order).await.unwrap();
    assert_eq!(run.wait().await.unwrap().ship, "0:TEA");
    worker.shutdown().await.unwrap();

    // A deployment writes rows alone; only the tables of a queue of pgmq delivery would have to be made, which is refused.
    let pool = sqlx::PgPool::connect(&role.url).await.unwrap();
    let deploy = async |definition| sqlx::query("select flow.deploy($1)").bind(definition).execute(&pool).await;
    deploy(graph_of_nothing.definition()).await.unwrap();
    Db::new(test.url()).unwrap().use_pgmq().await.unwrap();
    test.change_roles(&format!("grant usage on schema pgmq to {0}; grant select on pgmq.meta to {0}", role.name)).await;
    let refused = deploy(Graph::new("tables").single("a", &[]).definition()).await.unwrap_err();
    assert_eq!(refused.as_database_error().unwrap().code().unwrap(), "42501");
    db.close().await;
    test.drop_role(role).await;
}

/// What the check expects of a database, in the repository; written anew with `FLOW_WRITE_OBJECTS=1`.
const OBJECTS: &str = include_str!("../../flow-runtime/src/database/migrate/objects.txt");

/// Runs a change that a test makes to the schema.
async fn change(test: &TestDb, sql: String) {
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(test.pool()).await.unwrap();
}

/// What the check of a managed database finds missing.
async fn missing(db: &Db) -> Vec<String> {
    match db.ready(None).await {
        Ok(()) => Vec::new(),
        Err(MigrateError::Incomplete { missing }) => missing,
        Err(error) => panic!("{error:?}"),
    }
}

/// Changes the schema, sees that the check misses `object` and nothing else, and changes it back.
async fn check_missed(test: &TestDb, db: &Db, object: &str, away: String, back: String) {
    change(test, away).await;
    assert_eq!(missing(db).await, [object]);
    change(test, back).await;
}

fn objects(kind: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    OBJECTS.lines().filter_map(move |line| Some((line, line.strip_prefix(kind)?.strip_prefix(' ')?)))
}

#[tokio::test]
async fn the_check_expects_what_a_migration_makes() {
    let test = TestDb::new().await;
    let list = include_str!("../../flow-runtime/src/database/migrate/objects.sql");
    let mut made: Vec<String> = sqlx::query_scalar(list).fetch_all(test.pool()).await.unwrap();
    made.sort();
    let made = made.join("\n") + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../flow-runtime/src/database/migrate/objects.txt");
    if std::env::var_os("FLOW_WRITE_OBJECTS").is_some() {
        std::fs::write(path, &made).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), made, "set FLOW_WRITE_OBJECTS=1 to write it anew");
}

// P26
#[tokio::test]
async fn changed_functions_come_with_a_new_version_of_the_set() {
    let test = TestDb::new().await;
    let version = "select (s.value)::text from flow.setting s where s.name = 'functions'";
    let version: String = sqlx::query_scalar(version).fetch_one(test.pool()).await.unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../flow-runtime/src/database/migrate/version.txt");
    let known = std::fs::read_to_string(path).unwrap();
    let now = format!("{version} {}\n", schema_fingerprint());
    if known != now && std::env::var_os("FLOW_WRITE_OBJECTS").is_some() {
        let before: u32 = known.split(' ').next().and_then(|number| number.parse().ok()).unwrap();
        assert!(version.parse::<u32>().unwrap() > before, "raise FUNCTIONS_VERSION above {before} first");
        std::fs::write(path, now).unwrap();
        return;
    }
    assert_eq!(known, now, "raise FUNCTIONS_VERSION in migrate.rs, then set FLOW_WRITE_OBJECTS=1 to write it down");
}

// P23
#[tokio::test]
async fn a_managed_database_without_a_table_is_refused() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap().managed(true);
    assert_eq!(missing(&db).await, [""; 0]);
    for (object, table) in objects("table") {
        let (schema, name) = table.split_once('.').unwrap();
        let away = format!("alter table {table} rename to gone");
        let back = format!("alter table {schema}.gone rename to {name}");
        check_missed(&test, &db, object, away, back).await;
    }
    change(&test, "drop table flow.attempt_error cascade".to_owned()).await;
    let worker = Worker::builder(&db).flow(Orders { announce: false }).build().unwrap();
    let error = worker.start().await.err().unwrap().to_string();
    assert!(error.contains("the database lacks table flow.attempt_error; let `Db::migrate`"), "{error}");
}

// P23
#[tokio::test]
async fn a_managed_database_with_a_view_in_a_tables_place_is_refused() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap().managed(true);
    for (object, table) in objects("table").filter(|(_, table)| table.starts_with("flow.")) {
        let (_, name) = table.split_once('.').unwrap();
        let away = format!("alter table {table} rename to gone; create view {table} as select * from flow.gone");
        let back = format!("drop view {table}; alter table flow.gone rename to {name}");
        check_missed(&test, &db, &format!("{object} (a view stands in its place)"), away, back).await;
    }
    db.ready(None).await.unwrap();
}

// P23
#[tokio::test]
async fn a_managed_database_without_a_column_is_refused() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap().managed(true);
    let mut checked = 0;
    for (object, column) in objects("column") {
        let (owner, name) = column.rsplit_once('.').unwrap();
        let kind = ["table", "view", "type"].into_iter().find(|kind| OBJECTS.contains(&format!("{kind} {owner}\n")));
        let (kind, part) = match kind.unwrap() {
            "type" => ("type", "attribute"),
            kind => (kind, "column"),
        };
        let away = format!("alter {kind} {owner} rename {part} {name} to gone");
        let back = format!("alter {kind} {owner} rename {part} gone to {name}");
        check_missed(&test, &db, object, away, back).await;
        checked += 1;
    }
    assert!(checked > 100, "{checked}");
    db.ready(None).await.unwrap();
}

// P23
#[tokio::test]
async fn a_managed_database_without_a_function_or_view_is_refused() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap().managed(true);
    let mut checked = 0;
    for kind in ["function", "view"] {
        for (object, named) in objects(kind) {
            let (path, arguments) = named.split_at(named.find('(').unwrap_or(named.len()));
            let (schema, name) = path.split_once('.').unwrap();
            // A function of that name with other arguments is not the one.
            let (make, drop) = match kind {
                "function" => (
                    format!("create function {path}(box) returns box language sql as 'select $1'"),
                    format!("drop function {path}(box);"),
                ),
                _ => (String::new(), String::new()),
            };
            let away = format!("alter {kind} {named} rename to gone; {make}");
            let back = format!("{drop} alter {kind} {schema}.gone{arguments} rename to \"{name}\"");
            check_missed(&test, &db, object, away, back).await;
            checked += 1;
        }
    }
    assert!(checked > 80, "{checked}");
    change(
        &test,
        "drop function flow.uuid_v7(); drop view flow.runs; alter table flow.run drop column error".to_owned(),
    )
    .await;
    let expected = ["column flow.run.error", "function flow.uuid_v7()", "view flow.runs"];
    assert_eq!(missing(&db).await, expected, "all that is missing is named");
    // A type is part of what names a function.
    change(&test, "alter type flow.failure rename to gone".to_owned()).await;
    let expected = ["function flow.end_failed_steps(flow.failure[], timestamp with time zone)", "type flow.failure"];
    let missing = missing(&db).await;
    assert!(expected.iter().all(|object| missing.contains(&(*object).to_owned())), "{missing:?}");
}

// P26
#[tokio::test]
async fn a_newer_schema_is_judged_by_its_interface_alone() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap().managed(true);
    let more = "create table flow.more (); alter table flow.task add more text; create function flow.more() returns text return ''";
    change(&test, more.to_owned()).await;
    db.ready(None).await.unwrap();
    let newer = "insert into flow.migration (version, checksum) values (999, 'newer'); drop function flow.uuid_v7();
                 update flow.setting set value = '2' where name = 'interface'";
    change(&test, newer.to_owned()).await;
    db.ready(None).await.unwrap();
    change(&test, "delete from flow.setting where name = 'interface'".to_owned()).await;
    assert_eq!(missing(&db).await, ["the interface's number in flow.setting"]);
}

// P24
#[tokio::test]
async fn a_failed_first_try_is_not_remembered() {
    let test = empty().await;
    let db = Db::new(test.url()).unwrap().managed(true);
    let error = db.ready(None).await.unwrap_err();
    assert!(matches!(error, MigrateError::Db(DbError::NotMigrated(_))), "{error:?}");
    let _ = tokio::time::timeout(Duration::from_millis(1), db.ready(None)).await;
    Db::new(test.url()).unwrap().migrate().await.unwrap();
    db.ready(None).await.unwrap();
}

// P25
#[tokio::test]
async fn ready_gives_up_on_a_server_that_never_answers() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgres://me@{}/none", silent.local_addr().unwrap());
    let error = tokio::time::timeout(Duration::from_secs(100), Db::new(&url).unwrap().ready(None)).await.unwrap();
    assert!(matches!(error, Err(MigrateError::Db(DbError::Unreachable { .. } | DbError::Other(_)))), "{error:?}");
}

#[tokio::test]
async fn a_wrong_password_is_told_apart() {
    let test = TestDb::new().await;
    let (_, rest) = test.url().split_once('@').unwrap();
    let error = Client::connect(&format!("postgres://postgres:wrong@{rest}")).await.unwrap_err();
    assert!(matches!(error, DbError::WrongPassword { .. }), "{error:?}");
    assert!(!error.to_string().contains("wrong"), "{error}");
}

#[tokio::test]
async fn the_view_of_an_engine_without_flows_is_empty() {
    let engine = Engine::new().await;
    assert_eq!(engine.words("select r.flow from flow.runs r").await, "");
    assert_eq!(engine.messages().await, 0);
}
