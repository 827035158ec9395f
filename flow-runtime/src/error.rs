//! What can go wrong between a program and its database, in words that say how to mend it.

use sqlx::Error as SqlxError;
use uuid::Uuid;

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

/// The database could not be brought to this program's schema.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MigrateError {
    /// A newer program has moved the schema past this one.
    #[error(
        "this program speaks interface {ours}, the database speaks {oldest} to {newest}; build the program with a newer flow"
    )]
    TooNew {
        /// This program's interface.
        ours: i32,
        /// The oldest interface the database still speaks.
        oldest: i32,
        /// The newest interface the database speaks.
        newest: i32,
    },
    /// A migration that was applied is not the one this program has.
    #[error("migration {version} was applied with another text; a migration never changes once it is released")]
    Changed {
        /// The migration's number.
        version: i32,
    },
    /// The schema lacks what this program uses.
    #[error(
        "the database lacks {}; let `Db::migrate` of this program's version run there, or restore what was dropped",
        .missing.join(", ")
    )]
    Incomplete {
        /// Every missing table, view, type, column and function, one text each.
        missing: Vec<String>,
    },
    /// The database's text is not in UTF-8.
    #[error(
        "the database's encoding is {encoding}, which cannot hold every text; use one with encoding UTF8, as \
         `create database … template template0 encoding 'UTF8'` makes"
    )]
    Encoding {
        /// The database's encoding.
        encoding: String,
    },
    /// PGMQ is there in a version that is too old for the engine.
    #[error(
        "PGMQ {version} is too old; bring it to 1.11 or newer, an extension with `alter extension pgmq update`, else with \
         PGMQ's own update scripts"
    )]
    OldPgmq {
        /// The version, or the versions that have what was found.
        version: String,
    },
    /// The database has this program's version of the functions with other contents, and is set to production.
    #[error(
        "the database has version {version} of flow's functions as {stored}, this program has the same version as {ours}; \
         build both programs from one version of flow, or set the database to development"
    )]
    OtherFunctions {
        /// The version that both name.
        version: i32,
        /// A hash of the functions that the database has.
        stored: String,
        /// A hash of the functions that this program has.
        ours: String,
    },
    /// PGMQ's SQL could not be installed.
    #[error("PGMQ could not be installed: {0}; it needs the right to create schemas, or the extension pgmq installed before")]
    Pgmq(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The database itself.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// A flow was not deployed, or a worker not registered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeployError {
    /// The definition breaks rules.
    #[error("{0}")]
    Invalid(String),
    /// The stored shape is another one.
    #[error(
        "flow `{slug}` is deployed with another shape, which never changes under one slug; \
         give the changed flow a new slug (differences: {})", .differences.join("; ")
    )]
    Mismatch {
        /// The flow's slug.
        slug: String,
        /// Every difference, one text each.
        differences: Vec<String>,
    },
    /// The stored shape became another one between deployment and registration.
    #[error("{0}")]
    Changed(String),
    /// Workers of the old shape did not stop in time (development only).
    #[error("flow `{slug}` has another shape now, and workers of the old one are still alive: {}; stop them first", .workers.join(", "))]
    StillAlive {
        /// The flow's slug.
        slug: String,
        /// Their ids and names.
        workers: Vec<String>,
    },
    /// The definition uses what the engine does not do yet.
    #[error("{0}")]
    Unsupported(String),
    /// A queue is taken.
    #[error("{0}")]
    Queue(String),
    /// The types changed under an unchanged shape and the deployment refuses that.
    #[error("{0}")]
    Drift(String),
    /// The worker's name is disabled, or its flow is deprecated.
    #[error("{0}")]
    Disabled(String),
    /// This program is older than the database allows.
    #[error("{0}")]
    UpgradeNeeded(String),
    /// The schema could not be brought up to date.
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    /// The database itself.
    #[error(transparent)]
    Db(#[from] DbError),
}

impl From<SqlxError> for DeployError {
    fn from(error: SqlxError) -> Self {
        let text = message(&error);
        match sqlstate(&error).as_deref() {
            Some("WF009" | "WF015") => Self::Invalid(text),
            Some("WF003") => Self::Changed(text),
            Some("WF007") => Self::Queue(text),
            Some("WF010") => Self::Disabled(text),
            Some("WF011") => Self::Unsupported(text),
            Some("WF013") => Self::UpgradeNeeded(text),
            Some("WF014") => Self::Drift(text),
            _ => Self::Db(error.into()),
        }
    }
}

/// A run was not started; nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// No such flow.
    #[error("{0}")]
    NotDeployed(String),
    /// The input does not fit the flow, is too large, or cannot be stored.
    #[error("{0}")]
    Input(String),
    /// The input cannot travel as JSON.
    #[error("the input {0}")]
    Encode(#[source] serde_json::Error),
    /// The run id belongs to another flow.
    #[error("{0}")]
    ForeignRunId(String),
    /// The database itself.
    #[error(transparent)]
    Db(#[from] DbError),
}

impl From<SqlxError> for StartError {
    fn from(error: SqlxError) -> Self {
        let text = message(&error);
        match sqlstate(&error).as_deref() {
            Some("WF001") => Self::NotDeployed(text),
            Some("WF004" | "WF006" | "WF008") => Self::Input(text),
            Some("WF005") => Self::ForeignRunId(text),
            _ => match error {
                SqlxError::Encode(reason) => Self::Input(reason.to_string()),
                other => Self::Db(other.into()),
            },
        }
    }
}

/// A question about a run has no answer, or not the one that was hoped for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The run failed.
    #[error("run {run_id} failed at step `{step}`: {error}")]
    Failed {
        /// The run.
        run_id: Uuid,
        /// The step that failed.
        step: String,
        /// Its error text.
        error: String,
    },
    /// The run was cancelled.
    #[error("run {0} was cancelled")]
    Cancelled(Uuid),
    /// There is no such run.
    #[error("there is no run {0}; it may have been pruned or deleted with its flow")]
    NotFound(Uuid),
    /// The run is one of another flow.
    #[error("run {run_id} is one of flow `{actual}`, not of `{expected}`")]
    OtherFlow {
        /// The run.
        run_id: Uuid,
        /// The flow that was asked for.
        expected: String,
        /// The run's flow.
        actual: String,
    },
    /// The flow has no such step.
    #[error("flow `{flow}` has no step `{step}`")]
    NoStep {
        /// The flow's slug.
        flow: String,
        /// What was asked for.
        step: String,
    },
    /// A stored value does not decode into the type that was asked for.
    #[error("what run {run_id} stored does not decode: {reason}; was it written by another version of the flow?")]
    Decode {
        /// The run.
        run_id: Uuid,
        /// Where and why, without the value.
        reason: String,
    },
    /// The database itself.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// A worker stopped, or never started, for a reason of its own.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The flow was not deployed or the worker not registered.
    #[error(transparent)]
    Deploy(#[from] DeployError),
    /// The queue holds messages that do not fit their tasks; it is paused.
    #[error("{0}; the queue is paused until flow.resume_queue is called")]
    Corrupt(String),
    /// The queue holds tasks that this worker does not serve; its name is disabled.
    #[error("{0}; this worker's name is disabled until flow.enable_worker is called")]
    Misrouted(String),
    /// The database does not know the worker any more.
    #[error("{0}")]
    Gone(String),
    /// This program is older than the database allows.
    #[error("{0}")]
    UpgradeNeeded(String),
    /// The database refused something for good.
    #[error(transparent)]
    Db(#[from] DbError),
    /// The worker's own task broke off; its leases end, and other workers take its tasks over.
    #[error("the worker broke off; this is a defect of flow, please report it with the log")]
    BrokeOff,
    /// The operating system refused to watch for signals.
    #[error("cannot watch for SIGTERM and SIGINT")]
    Signals(#[source] std::io::Error),
    /// The drain goes on; call `shutdown` again to wait for it.
    #[error("the worker has not stopped in time; it goes on draining, call shutdown again to wait for it")]
    StillDraining,
}

impl WorkerError {
    /// Whether trying again later may help: the database could not be reached, or was busy.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Db(error) | Self::Deploy(DeployError::Db(error) | DeployError::Migrate(MigrateError::Db(error))) => {
                error.is_transient()
            }
            _ => false,
        }
    }
}

/// A worker cannot be built as described.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The definition breaks rules.
    #[error(transparent)]
    Definition(#[from] flow_core::validate::DefinitionErrors),
    /// An option is out of range.
    #[error("{option} is {value}; it must be {expected}")]
    Option {
        /// Which one.
        option: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// The worker's steps do not go with its flow's queues.
    #[error("{0}")]
    Steps(String),
    /// Two flow types of one process have one slug.
    #[error("two flows of this worker set have the slug `{0}`; give one of them another slug")]
    SameSlug(String),
}
