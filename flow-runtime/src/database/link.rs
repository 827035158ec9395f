//! A connection of a worker's own that is made again when it was lost.

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

/// What an error of a call means for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    /// The same call may go well later.
    Later {
        /// The connection was dropped: nobody knows what became of the call.
        is_dropped: bool,
    },
    /// The same call would fail again.
    Never,
}

/// A connection that is made again when it was lost.
pub(crate) struct Link {
    connector: Connector,
    connection: Option<PgConnection>,
    /// The connection in use, or the one that was lost last and whose server process may still be at work.
    name: Option<OwnName>,
    /// The connection in use has answered a call.
    has_served: bool,
}

impl Link {
    /// A link without a connection yet.
    pub(crate) fn new(connector: Connector) -> Self {
        Self { connector, connection: None, name: None, has_served: false }
    }

    /// The connection; a new one in place of a lost one. What the lost one may still be doing has ended by then, committed or
    /// not.
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

    /// One call over the connection, which counts as lost when it does not answer within `limit`.
    pub(crate) async fn call<T, E: From<DbError> + From<sqlx::Error>>(
        &mut self,
        limit: Duration,
        call: impl AsyncFnOnce(&mut PgConnection) -> Result<T, E>,
    ) -> Result<T, E> {
        in_time(limit, call(self.get().await?)).await
    }

    /// Remembers that the connection has answered.
    pub(crate) fn has_served(&mut self) {
        self.has_served = true;
    }

    /// Whether trying again may help, and with which connection: an answer of the server's leaves it as it is, since behind a pooler
    /// a dropped one would hand a healthy server process to somebody else. Says whether the connection was dropped.
    pub(crate) fn after(&mut self, error: &DbError) -> Retry {
        // What was prepared before a function changed is of no use any more; on a fresh connection it is a fault of the program.
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

    /// Forgets a connection that may be broken.
    pub(crate) fn lose(&mut self) {
        self.connection = None;
    }

    pub(crate) async fn close(&mut self) {
        if let Some(connection) = self.connection.take() {
            let _ = connection.close().await;
        }
    }
}
