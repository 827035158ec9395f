//! One database, as clients and workers share it: its connections, its schema, its notifications.

use std::{str::FromStr, sync::Arc, time::Duration};

use sqlx::{
    ConnectOptions, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::{
    database::{self, OwnName},
    error::{DbError, MigrateError},
    lookout::Lookout,
    migrate,
    notify::Hub,
};

/// How long one attempt to connect may take.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A Postgres database that clients and workers of one process share. Cheap to clone.
#[derive(Clone)]
pub struct Db {
    inner: Arc<Inner>,
}

struct Inner {
    pool: PgPool,
    is_own_pool: bool,
    is_managed: bool,
    hub: Arc<Hub>,
    lookout: Arc<Lookout>,
}

impl Db {
    /// Names a database by its address, `postgres://user:password@host:port/database`. Makes no connection yet.
    ///
    /// # Errors
    /// [`DbError::Address`] when the address cannot be read.
    pub fn new(url: &str) -> Result<Self, DbError> {
        // The driver itself would take any scheme for its own.
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(DbError::Address { reason: "it does not begin with postgres://".to_owned() });
        }
        let options = PgConnectOptions::from_str(url).map_err(|error| DbError::Address { reason: reason(&error) })?;
        let options = options.application_name("flow").disable_statement_logging();
        let pool = PgPoolOptions::new().max_connections(10).acquire_timeout(CONNECT_TIMEOUT).connect_lazy_with(options);
        Ok(Self::with_pool(pool, true))
    }

    /// Uses a pool of the caller's, which is never closed. Waiting handles and workers keep one of its connections for
    /// listening, so it needs at least two; each worker also opens two connections of its own with the pool's settings.
    pub fn from_pool(pool: PgPool) -> Self {
        Self::with_pool(pool, false)
    }

    fn with_pool(pool: PgPool, is_own_pool: bool) -> Self {
        let hub = Hub::new(pool.clone());
        Self { inner: Arc::new(Inner { pool, is_own_pool, is_managed: false, hub, lookout: Arc::default() }) }
    }

    /// Whether somebody else migrates this database. A worker of a managed database runs no DDL for the schema; it
    /// checks at its start that the schema is [ready](Db::ready). Default: false.
    #[must_use]
    pub fn managed(self, is_managed: bool) -> Self {
        let Inner { pool, is_own_pool, hub, lookout, .. } = &*self.inner;
        let (pool, hub, lookout) = (pool.clone(), Arc::clone(hub), Arc::clone(lookout));
        let inner = Inner { pool, is_own_pool: *is_own_pool, is_managed, hub, lookout };
        Self { inner: Arc::new(inner) }
    }

    /// Brings the database to this program's schema; does nothing when it is there. Workers call it at start-up, unless
    /// the database is [managed](Db::managed).
    ///
    /// # Errors
    /// [`MigrateError`]; nothing is half applied.
    pub async fn migrate(&self) -> Result<(), MigrateError> {
        let mut connection = self.connect().await?;
        migrate::migrate(&mut connection, &self.inner.pool.connect_options()).await
    }

    /// Waits until the database answers, and checks that its schema speaks this program's interface and has every table,
    /// column and function the program uses; takes at most `limit`, 5 s when none is given. Needs no right to make anything.
    ///
    /// # Errors
    /// What stood in the way last. A failed try is not remembered: the same `Db` is ready once the cause is gone.
    pub async fn ready(&self, limit: Option<Duration>) -> Result<(), MigrateError> {
        let check = async {
            let mut connection = self.connect().await?;
            migrate::check_schema(&mut connection).await
        };
        match tokio::time::timeout(limit.unwrap_or(CONNECT_TIMEOUT), check).await {
            Ok(checked) => checked,
            Err(_) => Err(DbError::from(sqlx::Error::PoolTimedOut).into()),
        }
    }

    /// Closes the connections, unless the pool is the caller's.
    pub async fn close(&self) {
        if self.inner.is_own_pool {
            self.inner.pool.close().await;
        }
    }

    /// A connection outside the pool for a few calls, also through a pooler; its error says what is wrong with address, user
    /// or database.
    pub(crate) async fn connect(&self) -> Result<PgConnection, DbError> {
        self.in_time(database::open(&self.inner.pool.connect_options())).await
    }

    /// A connection that lasts, with a name that tells it from all others.
    pub(crate) async fn connect_own(&self) -> Result<(PgConnection, OwnName), DbError> {
        let options = self.inner.pool.connect_options();
        let name = OwnName::new(&options);
        Ok((self.in_time(database::open(&name.on(&options))).await?, name))
    }

    /// Refuses an address behind which connections share server processes statement by statement, which no worker can use.
    pub(crate) async fn refuse_shared_processes(&self) -> Result<(), DbError> {
        if self.in_time(database::shares_processes(&self.inner.pool.connect_options())).await? {
            return Err(DbError::TransactionPooler { address: self.address() });
        }
        Ok(())
    }

    /// Waits as long as connecting may take; the error names the address.
    async fn in_time<T>(&self, call: impl Future<Output = sqlx::Result<T>>) -> Result<T, DbError> {
        let options = self.inner.pool.connect_options();
        let named = |error| DbError::connecting(error, &self.address(), options.get_username());
        match tokio::time::timeout(CONNECT_TIMEOUT, call).await {
            Ok(called) => called.map_err(named),
            Err(_) => Err(named(sqlx::Error::PoolTimedOut)),
        }
    }

    /// Host, port and database, for people; never user or password.
    pub(crate) fn address(&self) -> String {
        let options = self.inner.pool.connect_options();
        let database = options.get_database().unwrap_or(options.get_username());
        format!("{}:{}/{database}", options.get_host(), options.get_port())
    }

    pub(crate) fn pool(&self) -> &PgPool {
        &self.inner.pool
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.inner.hub
    }

    pub(crate) fn lookout(&self) -> &Lookout {
        &self.inner.lookout
    }

    pub(crate) fn is_managed(&self) -> bool {
        self.inner.is_managed
    }
}

impl std::fmt::Debug for Db {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Db").field("address", &self.address()).finish_non_exhaustive()
    }
}

/// What is wrong with an address, without the address.
fn reason(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Configuration(cause) => cause.to_string(),
        other => other.to_string(),
    }
}
