//! The pool that clients share: each call has a deadline, a connection that may be broken does not go back, and the pool follows the
//! server that may write.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use sqlx::{Connection, PgConnection, PgPool, postgres::PgConnectOptions};

use super::{Purpose, address::Servers, deadline, in_time, own};
use crate::error::{breaks_connection, sqlstate};

/// A pool, and the servers that it may lead to. Cheap to clone.
#[derive(Clone)]
pub(crate) struct SharedPool {
    pool: PgPool,
    servers: Arc<Servers>,
    /// The server that the pool leads to now.
    current: Arc<AtomicUsize>,
}

impl SharedPool {
    /// The pool leads to the first of the servers.
    pub(crate) fn new(pool: PgPool, servers: Servers) -> Self {
        Self { pool, servers: Arc::new(servers), current: Arc::default() }
    }

    /// How the server that the pool leads to now is reached.
    pub(crate) fn options(&self) -> Arc<PgConnectOptions> {
        self.pool.connect_options()
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    /// Opens a connection to the first server that answers, and may write where that is asked for, beginning with the one that served
    /// last. From then on the pool leads there too.
    ///
    /// # Errors
    /// What the last server said.
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

    /// Has the pool lead to the server that may write, where there is a choice.
    ///
    /// # Errors
    /// What the last server said.
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

    /// Whether a pooler stands behind the address that hands server processes from client to client between two statements.
    pub(crate) async fn shares_processes(&self) -> sqlx::Result<bool> {
        self.find_server().await?;
        in_time(2 * deadline::CONNECT, own::shares_processes(&self.options())).await
    }

    /// Makes one call over a connection of the pool. Past `limit`, and after an error that says that the connection may be broken, the
    /// connection is dropped.
    ///
    /// # Errors
    /// The call's, as the driver has it.
    pub(crate) async fn call<T>(
        &self,
        limit: Duration,
        call: impl AsyncFnOnce(&mut PgConnection) -> sqlx::Result<T>,
    ) -> sqlx::Result<T> {
        let mut connection = match in_time(2 * deadline::CONNECT, self.pool.acquire()).await {
            Ok(connection) => connection,
            Err(sqlx::Error::PoolTimedOut) => return self.call_apart(limit, call).await,
            Err(error) => return Err(error),
        };
        let called = in_time(limit, call(&mut connection)).await;
        if let Err(error) = &called
            && breaks_connection(error)
        {
            drop(connection.detach());
            if sqlstate(error).as_deref() == Some("25006") {
                // The primary may be another one by now, and then the next call goes there. What this call met is told all the same.
                let _ = self.find_server().await;
            }
        }
        called
    }

    /// The pool had no connection in time: its idle ones may be frozen, which it finds out one by one, or the server is gone or takes no
    /// more, and the pool keeps what the server says to itself. A connection made for this call alone serves it, or tells why there is
    /// none.
    async fn call_apart<T>(
        &self,
        limit: Duration,
        call: impl AsyncFnOnce(&mut PgConnection) -> sqlx::Result<T>,
    ) -> sqlx::Result<T> {
        let mut connection = self.open(&Purpose::Call).await?;
        let called = in_time(limit, call(&mut connection)).await;
        let _ = in_time(deadline::CONNECT, connection.close()).await;
        called
    }
}
