//! A connection of a worker's own that is made again when it was lost.

use std::time::Duration;

use sqlx::{Connection, PgConnection};

use super::{OwnName, end_own};
use crate::{db::Db, error::DbError};

/// A connection that is made again when it was lost.
pub(crate) struct Link {
    db: Db,
    connection: Option<PgConnection>,
    /// The connection in use, or the one that was lost last and whose server process may still be at work.
    name: Option<OwnName>,
}

impl Link {
    /// A link without a connection yet.
    pub(crate) fn new(db: Db) -> Self {
        Self { db, connection: None, name: None }
    }

    /// The connection; a new one in place of a lost one. What the lost one may still be doing has ended by then, committed or
    /// not.
    pub(crate) async fn get(&mut self) -> Result<&mut PgConnection, DbError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let (mut connection, name) = self.db.connect_own().await?;
                if let Some(lost) = &self.name {
                    end_own(&mut connection, lost).await?;
                }
                self.name = Some(name);
                connection
            }
        };
        Ok(self.connection.insert(connection))
    }

    /// Forgets the connection when the error says that it may be broken. An answer of the server's leaves it as it is: behind a
    /// pooler a dropped connection would hand a healthy server process to somebody else.
    pub(crate) fn lose_after(&mut self, error: &DbError) {
        if error.breaks_connection() {
            self.lose();
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

/// The call's result; a call that does not answer within `limit` counts as lost.
pub(crate) async fn in_time<T>(limit: Duration, call: impl Future<Output = Result<T, DbError>>) -> Result<T, DbError> {
    tokio::time::timeout(limit, call).await.unwrap_or_else(|_| Err(connection_lost()))
}

/// A reply that did not come.
pub(crate) fn connection_lost() -> DbError {
    DbError::from(sqlx::Error::from(std::io::Error::from(std::io::ErrorKind::TimedOut)))
}
