//! What a database or the connection to it may say.

use std::{error::Error, fmt};

use sqlx::Error as SqlxError;

/// What the server or the connection said, in one sentence; [`DriverError::code`] has the SQLSTATE of a server's answer.
#[derive(Debug)]
pub struct DriverError(SqlxError);

impl DriverError {
    /// The SQLSTATE of a server's answer; `None` when the connection failed.
    pub fn code(&self) -> Option<String> {
        sqlstate(&self.0)
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&message(&self.0))
    }
}

impl Error for DriverError {}

impl From<SqlxError> for DriverError {
    fn from(error: SqlxError) -> Self {
        Self(error)
    }
}

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
    /// There is no Tokio runtime on this thread.
    #[error(
        "a database is used within a Tokio runtime, and this thread is in none; call this in an async function under `#[tokio::main]`"
    )]
    NoRuntime,
    /// Nobody answers at the address.
    #[error("no Postgres answers at {address}; check that it runs there and that the address is right")]
    Unreachable {
        /// Host, port and database, without user and password.
        address: String,
        /// What the connection attempt met.
        #[source]
        source: DriverError,
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
        source: DriverError,
    },
    /// The server has no such database.
    #[error("Postgres at {address} has no such database; make it with `create database`, or correct the address")]
    NoDatabase {
        /// Host, port and database.
        address: String,
        /// The server's answer.
        #[source]
        source: DriverError,
    },
    /// The user lacks a permission.
    #[error("the database refuses permission; grant it to the user of this program, or let another user migrate first")]
    NoPermission(#[source] DriverError),
    /// The schema `flow` is missing or older than this program.
    #[error("the database has no schema that this program knows; start a worker once, or call `Db::migrate`")]
    NotMigrated(#[source] DriverError),
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
    Other(#[source] DriverError),
}

impl DbError {
    /// Whether trying again later may help: a lost connection, a server that starts or stops, a deadlock.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Other(error) => is_transient(&error.0),
            _ => false,
        }
    }

    /// Whether a lock was not to be had in time; nothing has happened then.
    pub(crate) fn is_about_a_lock(&self) -> bool {
        self.driver_error().and_then(DriverError::code).is_some_and(|code| code == "55P03")
    }

    /// Whether statements that were prepared before are of no use, or a pooler has handed them to somebody else.
    pub(crate) fn is_about_statements(&self) -> bool {
        let code = self.driver_error().and_then(DriverError::code).unwrap_or_default();
        ["0A000", "26000", "42P05"].contains(&code.as_str())
    }

    /// Whether the server could not do with the data what was asked of it: a value, or too much of them at once.
    pub(crate) fn is_about_data(&self) -> bool {
        let code = self.driver_error().and_then(DriverError::code).unwrap_or_default();
        code.starts_with("22") || code.starts_with("54") || code == "XX000"
    }

    /// What the server or the connection said, in its own words; empty when this error says it all.
    pub(crate) fn cause(&self) -> String {
        self.driver_error().map(ToString::to_string).unwrap_or_default()
    }

    fn driver_error(&self) -> Option<&DriverError> {
        match self {
            Self::Unreachable { source, .. }
            | Self::WrongPassword { source, .. }
            | Self::NoDatabase { source, .. }
            | Self::NoPermission(source)
            | Self::NotMigrated(source)
            | Self::Other(source) => Some(source),
            Self::Address { .. } | Self::NoRuntime | Self::TransactionPooler { .. } | Self::Refused(_) => None,
        }
    }

    /// Whether the connection may be of no use any more.
    pub(crate) fn breaks_connection(&self) -> bool {
        self.driver_error().is_some_and(|error| breaks_connection(&error.0))
    }

    /// The same failure, named for an attempt to connect to `address` as `user`.
    pub(crate) fn connecting(error: SqlxError, address: &str, user: &str) -> Self {
        let address = address.to_owned();
        match sqlstate(&error).as_deref() {
            Some("28P01" | "28000") => Self::WrongPassword { address, user: user.to_owned(), source: error.into() },
            Some("3D000") => Self::NoDatabase { address, source: error.into() },
            None if is_transient(&error) => Self::Unreachable { address, source: error.into() },
            _ => error.into(),
        }
    }
}

impl From<SqlxError> for DbError {
    fn from(error: SqlxError) -> Self {
        match sqlstate(&error).as_deref() {
            Some("42501") => Self::NoPermission(error.into()),
            Some("3F000" | "42P01" | "42883" | "42704") => Self::NotMigrated(error.into()),
            Some(code) if code.starts_with("WF") => Self::Refused(message(&error)),
            _ => Self::Other(error.into()),
        }
    }
}

/// Whether the connection may be of no use after this error. An answer of the server's is no reason, but for one that says that the
/// server process ends, has lost its state or may not write.
pub(crate) fn breaks_connection(error: &SqlxError) -> bool {
    sqlstate(error).is_none_or(|code| code.starts_with("57P0") || code.starts_with("08") || code == "25006")
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
