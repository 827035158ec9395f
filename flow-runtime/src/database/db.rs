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

/// What other parts of the program keep for a database, by type.
type Companions = Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>;

struct Inner {
    connector: Connector,
    is_own_pool: bool,
    is_managed: bool,
    hub: Arc<Hub>,
    companions: Arc<Companions>,
}

impl Db {
    /// Names a database by its address, `postgres://user:password@host:port/database`. Makes no connection yet.
    ///
    /// An address may name several servers, `postgres://user:password@one:5432,two:5432/database`: they are tried in turn, and the one
    /// that may write is used, also after a failover. `?target_session_attrs=any` takes whichever answers, and `read-write` asks of a
    /// single server too that it may write.
    ///
    /// # Errors
    /// [`DbError::Address`] when the address cannot be read, [`DbError::NoRuntime`] outside of a Tokio runtime.
    pub fn new(url: &str) -> Result<Self, DbError> {
        // The driver's pool begins a task and panics where there is no runtime for it.
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
            // Many waits at once are no trouble, and a real one is told as an error.
            .acquire_slow_threshold(deadline::MIGRATE)
            .connect_lazy_with(servers.all[0].clone());
        Ok(Self::with_pool(SharedPool::new(pool, servers), true))
    }

    /// Uses a pool of the caller's, which is never closed. Waiting handles and workers keep one of its connections for
    /// listening, so it needs at least two; each worker also opens two connections of its own with the pool's settings.
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

    /// Whether somebody else migrates this database. A worker of a managed database runs no DDL for the schema; it
    /// checks at its start that the schema is [ready](Db::ready). Default: false.
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

    /// Brings the database to this program's schema; does nothing when it is there. Workers call it at start-up, unless
    /// the database is [managed](Db::managed).
    ///
    /// # Errors
    /// [`MigrateError`]; nothing is half applied.
    pub async fn migrate(&self) -> Result<(), MigrateError> {
        let mut connection = self.connect().await?;
        in_time(deadline::MIGRATE, migrate::migrate(&mut connection)).await
    }

    /// Lets the queues that are made from now on lie in tables of PGMQ, for who has tools for it, and installs PGMQ where nobody has.
    /// [`Db::migrate`] comes first. Queues that are there stay as they are; `select flow.set_setting('delivery', 'rows')` undoes it.
    ///
    /// Such a queue costs more and is worked in the order in which work becomes visible: without priorities, and retries last.
    ///
    /// # Errors
    /// [`MigrateError`]; nothing is half applied.
    pub async fn use_pgmq(&self) -> Result<(), MigrateError> {
        let mut connection = self.connect().await?;
        let options = self.pool().options();
        in_time(deadline::MIGRATE, migrate::use_pgmq(&mut connection, &options)).await
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
        match tokio::time::timeout(limit.unwrap_or(deadline::CONNECT), check).await {
            Ok(checked) => checked,
            Err(_) => Err(DbError::from(sqlx::Error::PoolTimedOut).into()),
        }
    }

    /// Closes the connections, unless the pool is the caller's, when other programs have been told what calls of this one have brought
    /// about. A program that starts runs and ends at once calls this first; else workers find the runs with their next poll.
    pub async fn close(&self) {
        self.inner.hub.close();
        self.inner.hub.finish_telling().await;
        if self.inner.is_own_pool {
            self.pool().close().await;
        }
    }

    /// A connection outside the pool for a few calls; its error says what is wrong with address, user or database.
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

    /// The one value of this type that goes with the database, for a part of the program that keeps something for each database; made when
    /// it is asked for first.
    pub(crate) fn companion<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut companions = self.inner.companions.lock().unwrap_or_else(PoisonError::into_inner);
        let companion = companions.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // The value under a type's id is of that type.
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
