//! One database, as clients and workers share it: its connections, its schema, its notifications.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sqlx::{PgConnection, PgPool, postgres::PgPoolOptions};

use crate::{
    database::{
        address::Servers,
        connector::Connector,
        deadline::{self, in_time},
        migrate,
        notify::Hub,
        pool::SharedPool,
    },
    error::{DbError, MigrateError},
};

/// A Postgres database that clients and workers of one process share. Cheap to clone.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), flow_runtime::error::DbError> {
/// let db = flow_runtime::Db::new("postgres://app:secret@localhost:5432/shop")?;
/// assert!(!format!("{db:?}").contains("secret"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Db {
    inner: Arc<Inner>,
}

/// The values that other parts of the program keep for a database, one of each type.
type Companions = Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>;

struct Inner {
    connector: Connector,
    is_own_pool: bool,
    is_managed: bool,
    hub: Arc<Hub>,
    companions: Arc<Companions>,
}

impl Db {
    /// Takes a database by its address, `postgres://user:password@host:port/database`. Makes no connection yet.
    ///
    /// An address may name several servers, `postgres://user:password@one:5432,two:5432/database`: they are tried in turn, and the server
    /// that may write is used, also after a failover. `?target_session_attrs=any` takes the first server that answers; with `read-write`,
    /// a single server must be able to write too.
    ///
    /// # Errors
    /// [`DbError::Address`] when the address cannot be read, [`DbError::NoRuntime`] outside of a Tokio runtime.
    pub fn new(url: &str) -> Result<Self, DbError> {
        // The driver's pool spawns a task, and panics where there is no runtime.
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(DbError::NoRuntime);
        }
        let mut servers = Servers::read(url).map_err(|reason| DbError::Address { reason })?;
        for server in &mut servers.all {
            if server.get_application_name().is_none() {
                *server = server.clone().application_name("flow");
            }
        }
        let pool = SharedPool::asked_when_idle(PgPoolOptions::new())
            .max_connections(10)
            .acquire_timeout(deadline::CONNECT)
            // The driver's warning about a slow acquire is switched off: many waits at once are usual, and a failed one is an error.
            .acquire_slow_threshold(deadline::MIGRATE)
            .connect_lazy_with(servers.all[0].clone());
        Ok(Self::with_pool(SharedPool::new(pool, servers), true))
    }

    /// Uses a pool that the caller has made, which is never closed here. With the pool's settings, outside of the pool, the program opens
    /// one connection for listening, one for each worker, one for the process's heartbeat, and now and then one for the process's upkeep.
    pub fn from_pool(pool: PgPool) -> Self {
        let servers = Servers::one((*pool.connect_options()).clone());
        Self::with_pool(SharedPool::new(pool, servers), false)
    }

    fn with_pool(pool: SharedPool, is_own_pool: bool) -> Self {
        let hub = Hub::new(pool.clone());
        Self {
            inner: Arc::new(Inner {
                connector: Connector::new(pool),
                is_own_pool,
                is_managed: false,
                hub,
                companions: Arc::default(),
            }),
        }
    }

    /// Sets whether somebody else migrates this database. A worker of a managed database runs no DDL for the schema; at its start the
    /// worker checks that the schema is [ready](Db::ready). Default: false.
    ///
    /// ```no_run
    /// # use flow_runtime::Db;
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let db = Db::new("postgres://localhost/app")?.managed(true);
    /// db.ready(None).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn managed(self, is_managed: bool) -> Self {
        let Inner { connector, is_own_pool, hub, companions, .. } = &*self.inner;
        let (connector, hub, companions) = (connector.clone(), Arc::clone(hub), Arc::clone(companions));
        let inner = Inner { connector, is_own_pool: *is_own_pool, is_managed, hub, companions };
        Self { inner: Arc::new(inner) }
    }

    /// Brings the database to this program's schema. Does nothing when the schema is up to date. Workers call this at their start, unless
    /// the database is [managed](Db::managed).
    ///
    /// # Errors
    /// [`MigrateError`]; nothing is half applied.
    pub async fn migrate(&self) -> Result<(), MigrateError> {
        let mut connection = self.connect().await?;
        in_time(deadline::MIGRATE, migrate::migrate(&mut connection)).await
    }

    /// Makes new queues lie in tables of PGMQ from now on, for users who have tools for PGMQ, and installs PGMQ where it is missing.
    /// [`Db::migrate`] must come first. Present queues stay as they are; `select flow.set_setting('delivery', 'rows')` undoes the setting.
    ///
    /// A queue in PGMQ costs more, and is worked in the order in which work becomes visible: without priorities, and retries last.
    ///
    /// # Errors
    /// [`MigrateError`]; nothing is half applied.
    pub async fn use_pgmq(&self) -> Result<(), MigrateError> {
        let mut connection = self.connect().await?;
        let options = self.pool().options();
        in_time(deadline::MIGRATE, migrate::use_pgmq(&mut connection, &options)).await
    }

    /// Connects, and checks that the schema supports this program's interface and has every table, column and function that the program
    /// uses. Takes at most `limit`, by default 5 s. Needs no right to create anything.
    ///
    /// # Errors
    /// [`MigrateError`], which says what is missing or that the database did not answer. A failed check is not remembered: a later call of
    /// the same `Db` succeeds once the cause is gone.
    pub async fn ready(&self, limit: Option<Duration>) -> Result<(), MigrateError> {
        let check = async {
            let mut connection = self.connect().await?;
            migrate::check_schema(&mut connection).await
        };
        match tokio::time::timeout(limit.unwrap_or(deadline::CONNECT), check).await {
            Ok(checked) => checked,
            Err(_) => Err(DbError::from(sqlx::Error::PoolTimedOut).into()),
        }
    }

    /// Tells other programs what the calls of this program have brought about, then closes the pool, unless the caller has made it. A
    /// program that starts runs and ends at once should call this before its end; else workers find the runs only with their next poll.
    pub async fn close(&self) {
        self.inner.hub.close();
        self.inner.hub.finish_telling().await;
        if self.inner.is_own_pool {
            self.pool().close().await;
        }
    }

    /// Opens a connection outside of the pool for a few calls. The error says whether address, user or database is at fault.
    pub(crate) async fn connect(&self) -> Result<PgConnection, DbError> {
        self.inner.connector.connect().await
    }

    pub(crate) fn connector(&self) -> &Connector {
        &self.inner.connector
    }

    pub(crate) fn pool(&self) -> &SharedPool {
        self.inner.connector.pool()
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.inner.hub
    }

    /// The value of type `T` that a part of the program keeps for this database. The first call for a type makes the value.
    pub(crate) fn companion<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut companions = self.inner.companions.lock().unwrap_or_else(PoisonError::into_inner);
        let companion = companions.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // The downcast cannot fail: the value under a type's id is of that type.
        Arc::clone(companion).downcast().unwrap_or_default()
    }

    pub(crate) fn is_managed(&self) -> bool {
        self.inner.is_managed
    }
}

impl std::fmt::Debug for Db {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Db").field("address", &self.inner.connector.address()).finish_non_exhaustive()
    }
}
