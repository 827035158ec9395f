//! A migrated database for each test, copied from a template on the server that all tests share.

use flow_runtime::{
    Db,
    embedded::{TestDatabase, TestServer, open_tests},
    schema_fingerprint,
};
use sqlx::{Connection, PgConnection, PgPool, postgres::PgPoolOptions};
use tokio::sync::OnceCell;

/// One a process: the tests of a process come with a runtime each, and the server outlives them all.
static SERVER: OnceCell<TestServer> = OnceCell::const_new();

/// A migrated database of its own, set to development. It is removed when this is dropped.
pub struct TestDb {
    pool: PgPool,
    database: TestDatabase,
}

/// A role of the server, made for one test.
pub struct TestRole {
    /// Its name.
    pub name: String,
    /// The address of the test's database for this role.
    pub url: String,
}

impl TestDb {
    /// Copies the template, which the first test of all migrates.
    ///
    /// # Panics
    /// When there is no server or no database to be had: a test that finds no Postgres fails.
    pub async fn new() -> Self {
        Self::with_connections(5).await
    }

    /// The same with up to `connections` connections, for tests that race.
    ///
    /// # Panics
    /// As [`TestDb::new`].
    pub async fn with_connections(connections: u32) -> Self {
        match Self::try_new(connections).await {
            Ok(database) => database,
            Err(error) => panic!("no database for this test: {error:#}"),
        }
    }

    async fn try_new(connections: u32) -> anyhow::Result<Self> {
        let fingerprint = format!("{}{MESSAGES}{}", schema_fingerprint(), is_pgmq());
        let server = SERVER.get_or_try_init(|| async { open_tests(&fingerprint, migrate).await }).await?;
        let database = server.database().await?;
        let pool = connect(database.url(), connections)?;
        Ok(Self { pool, database })
    }

    /// Closes the connections of [`TestDb::pool`], so that the server counts what they did, and opens new ones on use.
    ///
    /// # Panics
    /// When the database's URL cannot be read, which it was before.
    pub async fn reconnect(&mut self) {
        self.pool.close().await;
        let connections = self.pool.options().get_max_connections();
        self.pool = connect(self.url(), connections).unwrap();
    }

    /// The URL of another, empty database on the same server, made with these options of `create database`. It is removed by a
    /// later test process.
    ///
    /// # Panics
    /// When the server refuses the options.
    pub async fn empty_sibling(&self, options: &str) -> String {
        let own: String = sqlx::query_scalar("select current_database()::text").fetch_one(&self.pool).await.unwrap();
        let name = format!("{own}{:09}", std::process::id());
        let create = format!("create database {name} template template0 {options}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(create)).execute(&self.pool).await.unwrap();
        self.url().replace(&own, &name)
    }

    /// A new role that may log in and do no more, made with these options of `create role`.
    ///
    /// # Panics
    /// When the server refuses the options.
    pub async fn role(&self, options: &str) -> TestRole {
        let name = format!("role_{}", uuid::Uuid::now_v7().simple());
        self.change_roles(&format!("create role {name} login password 'p' {options}")).await;
        let (_, place) = self.url().split_once('@').unwrap();
        TestRole { url: format!("postgres://{name}:p@{place}"), name }
    }

    /// A new role that may do what a worker or a client does, and make nothing.
    ///
    /// # Panics
    /// As [`TestDb::role`].
    pub async fn worker_role(&self, options: &str) -> TestRole {
        let role = self.role(options).await;
        let grants = format!(
            "grant usage on schema {schemas} to {role};
             grant select, insert, update, delete on all tables in schema {schemas} to {role};
             grant usage on all sequences in schema {schemas} to {role};
             grant execute on all functions in schema {schemas} to {role}",
            role = role.name,
            schemas = if is_pgmq() { "flow, pgmq" } else { "flow" }
        );
        self.change_roles(&grants).await;
        role
    }

    /// Drops the role, whose connections are closed, with all its rights.
    ///
    /// # Panics
    /// When somebody else's objects depend on the role.
    pub async fn drop_role(&self, role: TestRole) {
        self.change_roles(&format!("drop owned by {role}; drop role {role}", role = role.name)).await;
    }

    /// Changes roles or their rights.
    ///
    /// # Panics
    /// When the server refuses it.
    pub async fn change_roles(&self, change: &str) {
        sqlx::raw_sql(sqlx::AssertSqlSafe(change.to_owned())).execute(&self.pool).await.unwrap();
    }

    /// The database's URL.
    pub fn url(&self) -> &str {
        self.database.url()
    }

    /// Connections to the database, for looking at it. Connects on first use.
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }
}

fn connect(url: &str, connections: u32) -> sqlx::Result<PgPool> {
    PgPoolOptions::new().max_connections(connections).connect_lazy(url)
}

/// Whether `FLOW_TEST_DELIVERY=pgmq` asks for queues of pgmq delivery.
pub(super) fn is_pgmq() -> bool {
    std::env::var("FLOW_TEST_DELIVERY").is_ok_and(|delivery| delivery == "pgmq")
}

/// What tests see of messages, whatever their delivery.
const MESSAGES: &str = include_str!("../../sql/messages.sql");

async fn migrate(url: String) -> anyhow::Result<()> {
    let db = Db::new(&url)?;
    db.migrate().await?;
    if is_pgmq() {
        db.use_pgmq().await?;
    }
    let mut connection = PgConnection::connect(&url).await?;
    sqlx::raw_sql(MESSAGES).execute(&mut connection).await?;
    connection.close().await?;
    db.set_development().await?;
    db.close().await;
    Ok(())
}
