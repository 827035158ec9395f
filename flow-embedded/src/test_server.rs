//! A database for each test, copied from a template that is migrated once, on one server that all test processes share.

use std::{
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use sqlx::{Connection, PgConnection, postgres::PgConnectOptions};

use crate::{
    address::{connect, execute},
    blocking::blocking,
    cluster::Cluster,
    error::EmbeddedError,
    external::{External, ignored_hint},
    random::random_hex,
    setup::Setup,
};

/// The key of the advisory lock under which templates are made: "flowtest" in bytes.
const TEMPLATE_LOCK: i64 = 0x666c_6f77_7465_7374;

/// The server that test processes share, with a migrated template.
///
/// Made by [`open_tests`](crate::open_tests). An embedded server runs at least until this value is dropped.
pub struct TestServer {
    place: Place,
    template: String,
    /// A session whose application name is `owner`, which marks this process's databases as in use. When the process is killed, the session
    /// ends, and later processes remove the databases.
    _keeper: PgConnection,
    owner: String,
    made: AtomicU32,
}

/// A database for one test alone. Dropping this value removes the database.
pub struct TestDatabase {
    name: String,
    url: String,
    manager: PgConnectOptions,
}

/// The server on which the databases are.
enum Place {
    Embedded(Box<Cluster>),
    External(Box<External>),
}

impl TestServer {
    pub(crate) async fn open<E>(
        fingerprint: &str,
        migrate: impl AsyncFnOnce(String) -> Result<(), E>,
    ) -> Result<Self, EmbeddedError>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let place = match External::from_env("FLOW_TEST_DATABASE_URL")? {
            Some(external) => Place::External(Box::new(external)),
            None => Place::Embedded(Box::new(Cluster::join_or_start(blocking(Setup::tests).await?).await?)),
        };
        let digits = random_hex().map_err(EmbeddedError::file("read", "/dev/urandom"))?;
        let owner = format!("flow_test_{}", &digits[..12]);
        let connecting = |source| EmbeddedError::database("connect to the server for tests")(source);
        let mut keeper = connect(&place.manager().application_name(&owner)).await.map_err(connecting)?;
        remove_stale(&mut keeper).await;
        let template = template_name(fingerprint);
        make_template(&mut keeper, &place, &template, migrate).await?;
        Ok(Self { place, template, _keeper: keeper, owner, made: AtomicU32::new(0) })
    }

    /// Copies the template into a new database.
    ///
    /// # Errors
    /// [`EmbeddedError::Database`] when the server refuses to copy the template.
    pub async fn database(&self) -> Result<TestDatabase, EmbeddedError> {
        let name = format!("{}_{}", self.owner, self.made.fetch_add(1, Ordering::Relaxed));
        let template = &self.template;
        let manager = self.place.manager();
        let failed = |source| EmbeddedError::database(format!("copy the template `{template}`"))(source);
        let mut connection = connect(&manager).await.map_err(failed)?;
        execute(&mut connection, format!("create database {name} template {template}")).await.map_err(failed)?;
        let _ = connection.close().await;
        Ok(TestDatabase { url: self.place.url(&name), name, manager })
    }

    /// One line: which server this is, and where its data lies.
    pub fn describe(&self) -> String {
        match &self.place {
            Place::Embedded(cluster) => cluster.describe("FLOW_TEST_DATABASE_URL"),
            Place::External(external) => external.describe() + &ignored_hint("FLOW_TEST_DATABASE_URL"),
        }
    }
}

/// How long a test waits for the removal of its database. The removal itself waits for every connection that is just being made, and a
/// connection that a task of the test's runtime is making cannot go on before the test has returned.
const REMOVAL_WAIT: Duration = Duration::from_secs(2);

impl TestDatabase {
    /// The database's URL.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for TestDatabase {
    /// Removes the database and ends the sessions that are still connected to it. A database that cannot be removed now is removed by a
    /// later test process.
    fn drop(&mut self) {
        let statement = format!("drop database if exists {} with (force)", self.name);
        let manager = self.manager.clone();
        // The thread of the test's runtime is busy in this `drop`, so the statement runs in a thread and a runtime of its own.
        let (removed, is_removed) = mpsc::channel();
        thread::spawn(move || {
            let done = remove(&manager, statement);
            let _ = removed.send(done);
        });
        match is_removed.recv_timeout(REMOVAL_WAIT) {
            Ok(Ok(())) => {}
            Ok(Err(cause)) => tracing::debug!("the database {} was not removed: {cause}", self.name),
            Err(_) => tracing::debug!("the database {} is still being removed", self.name),
        }
    }
}

fn remove(manager: &PgConnectOptions, statement: String) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut connection = connect(manager).await.map_err(std::io::Error::other)?;
        execute(&mut connection, statement).await.map_err(std::io::Error::other)
    })
}

impl Place {
    /// The options to connect to the database from which other databases are created and removed.
    fn manager(&self) -> PgConnectOptions {
        match self {
            Self::Embedded(cluster) => cluster.address.manager(),
            Self::External(external) => external.options().clone(),
        }
    }

    fn url(&self, database: &str) -> String {
        match self {
            Self::Embedded(cluster) => cluster.address.url(database),
            Self::External(external) => external.url_of(database),
        }
    }
}

/// The template's name contains a hash of the fingerprint, so that another fingerprint gets a template of its own.
fn template_name(fingerprint: &str) -> String {
    use sha2::{Digest, Sha256};

    let digest = Sha256::digest(fingerprint.as_bytes());
    let digits: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("flow_template_{digits}")
}

/// Makes the template unless it exists. When many processes try at once, one makes the template and the others wait.
async fn make_template<E>(
    keeper: &mut PgConnection,
    place: &Place,
    template: &str,
    migrate: impl AsyncFnOnce(String) -> Result<(), E>,
) -> Result<(), EmbeddedError>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let failed = |source| EmbeddedError::database(format!("make the template `{template}`"))(source);
    if is_template(keeper, template).await.map_err(failed)? {
        return Ok(());
    }
    execute(keeper, format!("select pg_advisory_lock({TEMPLATE_LOCK})")).await.map_err(failed)?;
    if !is_template(keeper, template).await.map_err(failed)? {
        remove_old_templates(keeper).await;
        // A process that was killed during its migration may have left the database.
        execute(keeper, format!("drop database if exists {template} with (force)")).await.map_err(failed)?;
        execute(keeper, format!("create database {template}")).await.map_err(failed)?;
        migrate(place.url(template)).await.map_err(|cause| EmbeddedError::Migrate(cause.into()))?;
        // From here on the template counts as complete. Nobody may connect to it, since a connection would keep it from being copied.
        let end = format!("alter database {template} with is_template true allow_connections false");
        execute(keeper, end).await.map_err(failed)?;
        end_sessions(keeper, template).await.map_err(failed)?;
    }
    execute(keeper, format!("select pg_advisory_unlock({TEMPLATE_LOCK})")).await.map_err(failed)
}

async fn is_template(keeper: &mut PgConnection, name: &str) -> Result<bool, sqlx::Error> {
    let find = "select exists (select from pg_database d where d.datname = $1 and d.datistemplate)";
    sqlx::query_scalar(find).bind(name).fetch_one(keeper).await
}

/// Ends the sessions that the migration may have left connected to the database.
async fn end_sessions(keeper: &mut PgConnection, database: &str) -> Result<(), sqlx::Error> {
    let end = "select pg_terminate_backend(a.pid, 5000) from pg_stat_activity a where a.datname = $1";
    sqlx::query(end).bind(database).execute(keeper).await.map(drop)
}

/// Removes databases whose process is gone. Errors are ignored, since another process may be removing the same databases.
async fn remove_stale(keeper: &mut PgConnection) {
    const STALE: &str = "select d.datname::text from pg_database d \
        where d.datname ~ '^flow_test_[0-9a-f]{12}_[0-9]+$' and not exists (select from pg_stat_activity a \
        where a.application_name = substring(d.datname from '^flow_test_[0-9a-f]{12}'))";
    let stale: Vec<String> = sqlx::query_scalar(STALE).fetch_all(&mut *keeper).await.unwrap_or_default();
    for name in stale {
        let _ = execute(keeper, format!("drop database if exists {name}")).await;
    }
}

/// Removes templates that are over a day old, where the server shows their age. They cost disk space; one that is still needed is made
/// anew.
async fn remove_old_templates(keeper: &mut PgConnection) {
    const OLD: &str = "select d.datname::text from pg_database d \
        cross join lateral pg_stat_file('base/' || d.oid || '/PG_VERSION', true) f \
        where d.datname ~ '^flow_template_[0-9a-f]{16}$' and f.modification < now() - interval '1 day'";
    let old: Vec<String> = sqlx::query_scalar(OLD).fetch_all(&mut *keeper).await.unwrap_or_default();
    for name in old {
        let _ = execute(keeper, format!("alter database {name} with is_template false")).await;
        let _ = execute(keeper, format!("drop database if exists {name}")).await;
    }
}

impl std::fmt::Debug for TestServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestServer").field("description", &self.describe()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for TestDatabase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestDatabase").field("name", &self.name).finish_non_exhaustive()
    }
}
