//! The errors of a database and of the connection to it.

use std::{error::Error, fmt};

use sqlx::Error as SqlxError;

/// The error of the server or the connection, in one sentence. [`DriverError::code`] has the SQLSTATE of a server's answer.
#[derive(Debug)]
pub struct DriverError(SqlxError);

impl DriverError {
    /// The SQLSTATE of the server's answer; `None` when the server has not answered.
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

/// The database could not be reached, or has refused a call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DbError {
    /// The address cannot be read.
    #[error("the database address cannot be read: {reason}; expected postgres://user:password@host:port/database")]
    Address {
        /// What is wrong with the address; never the address itself, which may hold a password.
        reason: String,
    },
    /// There is no Tokio runtime on this thread.
    #[error(
        "a database is used within a Tokio runtime, and this thread is in none; call this in an async function under `#[tokio::main]`"
    )]
    NoRuntime,
    /// No server answers at the address.
    #[error("no Postgres answers at {address}; check that it runs there and that the address is right")]
    Unreachable {
        /// Host, port and database, without user and password.
        address: String,
        /// The error of the attempt to connect.
        #[source]
        source: DriverError,
    },
    /// The server does not accept the user or the password.
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
    /// Behind the address is a pooler that hands a server process from client to client between two statements.
    #[error(
        "at {address} a pooler in transaction mode answers, and a worker needs a server process of its own; give the worker the \
         server's own address, or that of a pool in session mode (clients may use this one)"
    )]
    TransactionPooler {
        /// Host, port and database.
        address: String,
    },
    /// The engine refuses the call, with the engine's own text; the SQLSTATE begins with `WF`.
    #[error("{0}")]
    Refused(String),
    /// Every other error of the database or the connection.
    #[error("the database did not answer as expected")]
    Other(#[source] DriverError),
}

impl DbError {
    /// Whether a later try may help, as after a lost connection, a server that starts or stops, or a deadlock.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Other(error) => is_transient(&error.0),
            _ => false,
        }
    }

    /// Whether a lock could not be taken in time. The call has then changed nothing.
    pub(crate) fn is_about_a_lock(&self) -> bool {
        self.driver_error().and_then(DriverError::code).is_some_and(|code| code == "55P03")
    }

    /// Whether prepared statements are of no use any more, because a function has changed or a pooler has handed the server process on.
    pub(crate) fn is_about_statements(&self) -> bool {
        let code = self.driver_error().and_then(DriverError::code).unwrap_or_default();
        ["0A000", "26000", "42P05"].contains(&code.as_str())
    }

    /// Whether the data is at fault: the server could not process a value, or the values were too large together.
    pub(crate) fn is_about_data(&self) -> bool {
        let code = self.driver_error().and_then(DriverError::code).unwrap_or_default();
        code.starts_with("22") || code.starts_with("54") || code == "XX000"
    }

    /// The text of the server's or the connection's error; empty when this error has no such cause.
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

    /// Whether the connection may be broken after this error.
    pub(crate) fn breaks_connection(&self) -> bool {
        self.driver_error().is_some_and(|error| breaks_connection(&error.0))
    }

    /// Makes the error of an attempt to connect to `address` as `user`.
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

/// Whether the connection may be broken after this error. An answer of the server breaks a connection only when the server process ends
/// (57P0…), the connection has failed (08…) or the server may not write (25006); every error without an answer breaks it.
pub(crate) fn breaks_connection(error: &SqlxError) -> bool {
    sqlstate(error).is_none_or(|code| code.starts_with("57P0") || code.starts_with("08") || code == "25006")
}

/// The SQLSTATE of a server's answer; `None` for every other error.
pub(crate) fn sqlstate(error: &SqlxError) -> Option<String> {
    error.as_database_error().and_then(|error| error.code()).map(|code| code.into_owned())
}

/// The server's message without its detail, which may hold the user's values; for another error the driver's text.
pub(crate) fn message(error: &SqlxError) -> String {
    error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}

fn is_transient(error: &SqlxError) -> bool {
    match sqlstate(error) {
        // By class: connection lost, deadlock or serialization failure, out of resources, server stopping or starting, I/O error. By code:
        // a primary that was demoted, a lock that could not be taken in time, an object in use.
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
