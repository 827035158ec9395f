//! What a database or the connection to it may say.

use sqlx::Error as SqlxError;

/// The database could not be reached, or refused what was asked of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DbError {
    /// The address cannot be read.
    #[error("the database address cannot be read: {reason}; expected postgres://user:password@host:port/database")]
    Address {
        /// What is wrong with it; never the address itself, which may hold a password.
        reason: String,
    },
    /// Nobody answers at the address.
    #[error("no Postgres answers at {address}; check that it runs there and that the address is right")]
    Unreachable {
        /// Host, port and database, without user and password.
        address: String,
        /// What the connection attempt met.
        #[source]
        source: SqlxError,
    },
    /// The server does not accept user or password.
    #[error("Postgres at {address} refuses user {user}; check user name and password")]
    WrongPassword {
        /// Host, port and database.
        address: String,
        /// The user name that was tried.
        user: String,
        /// The server's answer.
        #[source]
        source: SqlxError,
    },
    /// The server has no such database.
    #[error("Postgres at {address} has no such database; make it with `create database`, or correct the address")]
    NoDatabase {
        /// Host, port and database.
        address: String,
        /// The server's answer.
        #[source]
        source: SqlxError,
    },
    /// The user lacks a permission.
    #[error("the database refuses permission; grant it to the user of this program, or let another user migrate first")]
    NoPermission(#[source] SqlxError),
    /// The schema `flow` is missing or older than this program.
    #[error("the database has no schema that this program knows; start a worker once, or call `Db::migrate`")]
    NotMigrated(#[source] SqlxError),
    /// The address is that of a pooler that hands a server process from client to client between two statements.
    #[error(
        "at {address} a pooler in transaction mode answers, and a worker needs a server process of its own; give the worker the \
         server's own address, or that of a pool in session mode (clients may use this one)"
    )]
    TransactionPooler {
        /// Host, port and database.
        address: String,
    },
    /// The engine refuses what was asked of it, in its own words; the SQLSTATE begins with `WF`.
    #[error("{0}")]
    Refused(String),
    /// Everything else the database or the connection to it may say.
    #[error("the database did not answer as expected")]
    Other(#[source] SqlxError),
}

impl DbError {
    /// Whether trying again later may help: a lost connection, a server that starts or stops, a deadlock.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Other(error) => is_transient(error),
            _ => false,
        }
    }

    /// What the server or the connection said, in its own words; empty when this error says it all.
    pub(crate) fn cause(&self) -> String {
        self.sql_error().map(message).unwrap_or_default()
    }

    fn sql_error(&self) -> Option<&SqlxError> {
        match self {
            Self::Unreachable { source, .. }
            | Self::WrongPassword { source, .. }
            | Self::NoDatabase { source, .. }
            | Self::NoPermission(source)
            | Self::NotMigrated(source)
            | Self::Other(source) => Some(source),
            Self::Address { .. } | Self::TransactionPooler { .. } | Self::Refused(_) => None,
        }
    }

    /// Whether the connection may be of no use any more. An answer of the server's is none of that, but for one that says that the
    /// server process ends, has lost its state or may not write.
    pub(crate) fn breaks_connection(&self) -> bool {
        let Some(source) = self.sql_error() else { return false };
        sqlstate(source).is_none_or(|code| code.starts_with("57P0") || code.starts_with("08") || code == "25006")
    }

    /// The same failure, named for an attempt to connect to `address` as `user`.
    pub(crate) fn connecting(error: SqlxError, address: &str, user: &str) -> Self {
        let address = address.to_owned();
        match sqlstate(&error).as_deref() {
            Some("28P01" | "28000") => Self::WrongPassword { address, user: user.to_owned(), source: error },
            Some("3D000") => Self::NoDatabase { address, source: error },
            None if is_transient(&error) => Self::Unreachable { address, source: error },
            _ => error.into(),
        }
    }
}

impl From<SqlxError> for DbError {
    fn from(error: SqlxError) -> Self {
        match sqlstate(&error).as_deref() {
            Some("42501") => Self::NoPermission(error),
            Some("3F000" | "42P01" | "42883" | "42704") => Self::NotMigrated(error),
            Some(code) if code.starts_with("WF") => Self::Refused(message(&error)),
            _ => Self::Other(error),
        }
    }
}

/// The SQLSTATE of a server's answer; `None` for anything else.
pub(crate) fn sqlstate(error: &SqlxError) -> Option<String> {
    error.as_database_error().and_then(|error| error.code()).map(|code| code.into_owned())
}

/// The server's own sentence, which carries no values of the user's.
pub(crate) fn message(error: &SqlxError) -> String {
    error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}

fn is_transient(error: &SqlxError) -> bool {
    match sqlstate(error) {
        // Connection lost, deadlock or serialization failure, out of resources, server stopping or starting, I/O trouble;
        // a primary that has just been demoted; a lock that was not to be had in time.
        Some(code) => {
            ["08", "40", "53", "57", "58"].iter().any(|class| code.starts_with(class))
                || ["25006", "55P03", "55006"].contains(&code.as_str())
        }
        None => !matches!(
            error,
            SqlxError::Configuration(_)
                | SqlxError::RowNotFound
                | SqlxError::ColumnNotFound(_)
                | SqlxError::ColumnDecode { .. }
                | SqlxError::Decode(_)
                | SqlxError::TypeNotFound { .. }
        ),
    }
}
