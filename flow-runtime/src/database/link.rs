//! The connection of a worker or a heartbeat, which is made again after it was lost.

use std::time::Duration;

use sqlx::{Connection, PgConnection};

use crate::{
    database::{
        backend::{OwnName, end_own},
        connector::Connector,
        deadline::{self, in_time},
    },
    error::DbError,
};

/// What the error of a call means for the next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    /// The same call may succeed later.
    Later {
        /// Whether the connection was dropped, so that the call may have been committed or not.
        is_dropped: bool,
    },
    /// The same call would fail again.
    Never,
}

/// A connection that is made again after it was lost.
pub(crate) struct Link {
    connector: Connector,
    connection: Option<PgConnection>,
    /// The name of the connection in use; after a loss that of the lost connection, whose server process may still be at work.
    name: Option<OwnName>,
    /// Whether the connection in use has answered a call.
    has_served: bool,
}

impl Link {
    /// A link without a connection yet.
    pub(crate) fn new(connector: Connector) -> Self {
        Self { connector, connection: None, name: None, has_served: false }
    }

    /// Returns the connection, or opens a new one in place of a lost one. The server process of the lost connection is ended first, so that
    /// nothing of its last call can be committed later.
    pub(crate) async fn get(&mut self) -> Result<&mut PgConnection, DbError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let (mut connection, name) = self.connector.connect_own().await?;
                if let Some(lost) = &self.name {
                    in_time(deadline::HEARTBEAT, end_own(&mut connection, lost)).await?;
                }
                self.name = Some(name);
                self.has_served = false;
                connection
            }
        };
        Ok(self.connection.insert(connection))
    }

    /// Makes one call over the connection. A call that does not answer within `limit` fails as a lost connection does.
    pub(crate) async fn call<T, E: From<DbError> + From<sqlx::Error>>(
        &mut self,
        limit: Duration,
        call: impl AsyncFnOnce(&mut PgConnection) -> Result<T, E>,
    ) -> Result<T, E> {
        in_time(limit, call(self.get().await?)).await
    }

    /// Remembers that the connection has answered a call.
    pub(crate) fn has_served(&mut self) {
        self.has_served = true;
    }

    /// Returns whether the same call may succeed later, and drops the connection when the error says that it is broken. An ordinary answer
    /// of the server keeps the connection: behind a pooler, dropping it would hand a healthy server process to another client.
    pub(crate) fn after(&mut self, error: &DbError) -> Retry {
        // Statements that were prepared before a function changed are of no use, and a new connection prepares them anew. On a
        // connection that has not served yet, the same error is a fault of the program, and a further try would not help.
        let is_stale = error.is_about_statements() && self.has_served;
        let is_dropped = error.breaks_connection() || is_stale;
        if is_dropped {
            self.lose();
        }
        match error.is_transient() || is_stale {
            true => Retry::Later { is_dropped },
            false => Retry::Never,
        }
    }

    /// Drops the connection, which may be broken.
    pub(crate) fn lose(&mut self) {
        self.connection = None;
    }

    pub(crate) async fn close(&mut self) {
        if let Some(connection) = self.connection.take() {
            let _ = connection.close().await;
        }
    }
}
