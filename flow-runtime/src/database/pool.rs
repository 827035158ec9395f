//! The pool that clients share. Each call has a deadline, a connection that may be broken does not go back into the pool, and the pool
//! follows the server that may write.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use sqlx::{
    AssertSqlSafe, Connection, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions, PgRow},
};

use crate::{
    database::{
        address::Servers,
        backend::{self, Purpose},
        backoff::Backoff,
        deadline::{self, in_time},
    },
    error::{breaks_connection, sqlstate},
};

/// How long a connection of the pool may take to answer before the call is made over a new connection. At most half of the call's deadline.
const FIRST_TRY: Duration = Duration::from_secs(10);

/// After this idle time a connection of the pool is asked whether it still answers, before it is used.
const ASKED_AFTER: Duration = Duration::from_secs(1);

/// A pool, and the servers to which it may connect. Cheap to clone.
#[derive(Clone)]
pub(crate) struct SharedPool {
    pool: PgPool,
    servers: Arc<Servers>,
    /// The index of the server to which the pool connects now.
    current: Arc<AtomicUsize>,
}

impl SharedPool {
    /// Takes a pool that connects to the first of the servers.
    pub(crate) fn new(pool: PgPool, servers: Servers) -> Self {
        Self { pool, servers: Arc::new(servers), current: Arc::default() }
    }

    /// The options with which the pool connects now.
    pub(crate) fn options(&self) -> Arc<PgConnectOptions> {
        self.pool.connect_options()
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    /// Opens a connection to the first server that answers and, where required, may write. The server that served last is tried first. The
    /// pool connects to the same server from then on.
    ///
    /// # Errors
    /// The error of the server that was tried last.
    pub(crate) async fn open(&self, purpose: &Purpose) -> sqlx::Result<PgConnection> {
        if self.has_one_server() {
            return in_time(deadline::CONNECT, purpose.open(&self.options())).await;
        }
        let first = self.current.load(Ordering::Relaxed);
        let mut failed = None;
        for at in (0..self.servers.all.len()).map(|step| (first + step) % self.servers.all.len()) {
            let server = &self.servers.all[at];
            match in_time(deadline::CONNECT, self.open_one(server, purpose)).await {
                Ok(connection) => {
                    if self.current.swap(at, Ordering::Relaxed) != at {
                        tracing::info!(
                            host = server.get_host(),
                            port = server.get_port(),
                            "another server is used from now on"
                        );
                        self.pool.set_connect_options(server.clone());
                    }
                    return Ok(connection);
                }
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or(sqlx::Error::PoolTimedOut))
    }

    /// Makes the pool connect to a server that may write, where the address has several or requires one.
    ///
    /// # Errors
    /// The error of the server that was tried last.
    pub(crate) async fn find_server(&self) -> sqlx::Result<()> {
        if self.has_one_server() {
            return Ok(());
        }
        let _ = self.open(&Purpose::Call).await?.close().await;
        Ok(())
    }

    fn has_one_server(&self) -> bool {
        self.servers.all.len() == 1 && !self.servers.must_write
    }

    async fn open_one(&self, server: &PgConnectOptions, purpose: &Purpose) -> sqlx::Result<PgConnection> {
        use sqlx::{Executor, Row};

        let mut connection = purpose.open(server).await?;
        let asked = connection.fetch_one("select current_setting('transaction_read_only') = 'on'").await?;
        if self.servers.must_write && asked.try_get::<bool, _>(0)? {
            let _ = connection.close().await;
            return Err(std::io::Error::other("the server is read-only, and one that may write is asked for").into());
        }
        Ok(connection)
    }

    /// Whether a pooler behind the address hands server processes from client to client between two statements.
    pub(crate) async fn shares_processes(&self) -> sqlx::Result<bool> {
        self.find_server().await?;
        in_time(2 * deadline::CONNECT, backend::shares_processes(&self.options())).await
    }

    /// Makes a pool ask a connection before its use whether it still answers, if it was idle for more than [`ASKED_AFTER`]. So a connection
    /// in steady use costs no further round trip, and a connection that froze while idle does not cost a call its deadline.
    pub(crate) fn asked_when_idle(options: PgPoolOptions) -> PgPoolOptions {
        options.test_before_acquire(false).before_acquire(|connection, facts| {
            Box::pin(async move {
                if facts.idle_for > ASKED_AFTER {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
    }

    /// Sends one message over a connection of the pool, and waits up to `limit` for its reply. Sending the message twice must have the
    /// effect of sending it once: when the connection breaks or seems frozen before the reply has come, the message may have been executed
    /// or not, and is sent again over new connections, in the form `message(true)`. A connection that may be broken is dropped.
    ///
    /// # Errors
    /// The driver's error of the call; the error of the lost reply when no repeat was answered in time.
    pub(crate) async fn call(
        &self,
        limit: Duration,
        message: impl Fn(bool) -> Arc<str> + Send + Sync,
    ) -> sqlx::Result<Vec<PgRow>> {
        let mut connection = match in_time(2 * deadline::CONNECT, self.pool.acquire()).await {
            Ok(connection) => connection,
            Err(sqlx::Error::PoolTimedOut) => return self.call_apart(limit, message(false)).await,
            Err(error) => return Err(error),
        };
        let began_at = Instant::now();
        let called = in_time(FIRST_TRY.min(limit / 2), send_message(message(false), &mut connection)).await;
        let Err(error) = called else { return called };
        if breaks_connection(&error) {
            drop(connection.detach());
        }
        if sqlstate(&error).as_deref() == Some("25006") {
            // The server is read-only, so another one may be the primary by now: the next call goes there. This call still fails.
            let _ = self.find_server().await;
        }
        match loses_reply(&error) {
            true => self.repeat(error, began_at + limit, message(true)).await,
            false => Err(error),
        }
    }

    /// Makes a call whose reply was lost again, each try over a new connection, until one is answered or `until` has come. So a server that
    /// restarts, or another server that takes over, has time to come back.
    async fn repeat(&self, lost: sqlx::Error, until: Instant, message: Arc<str>) -> sqlx::Result<Vec<PgRow>> {
        let mut backoff = Backoff::default();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(lost);
            }
            match self.call_apart(left, Arc::clone(&message)).await {
                Err(error) if loses_reply(&error) || is_connecting(&error) => {
                    tokio::time::sleep(backoff.next_pause().min(left)).await;
                }
                answered => return answered,
            }
        }
    }

    /// Makes one call over a new connection outside of the pool.
    ///
    /// Used in two cases. Either the pool had no connection in time: its idle connections may be frozen, which the pool finds out one by
    /// one, or the server is gone or accepts no more connections, whose error the pool does not return. Or the reply was lost over a
    /// connection of the pool, and the pool's other connections may be broken too.
    async fn call_apart(&self, limit: Duration, message: Arc<str>) -> sqlx::Result<Vec<PgRow>> {
        let mut connection = self.open(&Purpose::Call).await?;
        let called = in_time(limit, send_message(message, &mut connection)).await;
        let _ = in_time(deadline::CONNECT, connection.close()).await;
        called
    }
}

/// Sends one message of the simple protocol, whose arguments are literals, and returns the rows of its reply.
pub(crate) async fn send_message(message: Arc<str>, connection: &mut PgConnection) -> sqlx::Result<Vec<PgRow>> {
    if message.contains('\0') {
        // A zero byte would end the message early.
        return Err(sqlx::Error::Encode("a text holds the character U+0000, which Postgres cannot store".into()));
    }
    // Every argument went through `literal`.
    sqlx::raw_sql(AssertSqlSafe(message)).fetch_all(connection).await
}

/// Whether the connection broke while a call was under way, so that the call may have been executed or not.
fn loses_reply(error: &sqlx::Error) -> bool {
    match sqlstate(error) {
        Some(code) => code.starts_with("57P0") || code.starts_with("08"),
        None => matches!(error, sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed),
    }
}

/// Whether the server accepts no connection at the moment.
fn is_connecting(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::PoolTimedOut) || sqlstate(error).is_some_and(|code| code.starts_with("53"))
}
