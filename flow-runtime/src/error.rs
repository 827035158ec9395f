//! The errors of each verb: deploy, start, read a run, run a worker, build a worker. Their texts say how to correct the mistake.

mod db;
mod migrate;

use sqlx::Error as SqlxError;

use crate::database::id::RunId;

pub use db::{DbError, DriverError};
pub(crate) use db::{breaks_connection, message, sqlstate};
pub use migrate::MigrateError;

/// A flow was not deployed, or a worker not registered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeployError {
    /// The definition breaks rules.
    #[error("{0}")]
    Invalid(String),
    /// The flow is deployed with another shape.
    #[error(
        "flow `{slug}` is deployed with another shape, which never changes under one slug; \
         give the changed flow a new slug (differences: {})", .differences.join("; ")
    )]
    Mismatch {
        /// The flow's slug.
        slug: String,
        /// The differences, one text each.
        differences: Vec<String>,
    },
    /// The flow was deployed with another shape between this worker's deployment and its registration.
    #[error("{0}")]
    Changed(String),
    /// Workers of the old shape did not stop in time (development only).
    #[error("flow `{slug}` has another shape now, and workers of the old one are still alive: {}; stop them first", .workers.join(", "))]
    StillAlive {
        /// The flow's slug.
        slug: String,
        /// The ids and names of these workers.
        workers: Vec<String>,
    },
    /// The definition uses something that the engine does not support yet.
    #[error("{0}")]
    Unsupported(String),
    /// A queue's name is taken, a queue is missing and a client may not make it, or the worker's steps do not go with its queue.
    #[error("{0}")]
    Queue(String),
    /// The types have changed under an unchanged shape, and the deployment refuses the change.
    #[error("{0}")]
    Drift(String),
    /// The worker's name is disabled, or its flow is deprecated.
    #[error("{0}")]
    Disabled(String),
    /// This program is older than the database allows.
    #[error("{0}")]
    UpgradeNeeded(String),
    /// The schema could not be brought up to date, or is not ready.
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
    /// No flow with this slug is deployed.
    #[error("{0}")]
    NotDeployed(String),
    /// The input or another argument does not fit the flow, is too large, or cannot be stored.
    #[error("{0}")]
    Input(String),
    /// The input cannot be written as JSON.
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

/// A run has no output, because it failed or was cancelled; or the run could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The run failed.
    #[error("run {run_id} failed at step `{step}`: {error}")]
    Failed {
        /// The run.
        run_id: RunId,
        /// The step that failed.
        step: String,
        /// Its error text.
        error: String,
    },
    /// The run was cancelled.
    #[error("run {0} was cancelled")]
    Cancelled(RunId),
    /// There is no such run.
    #[error("there is no run {0}; it may have been pruned or deleted with its flow")]
    NotFound(RunId),
    /// The run is one of another flow.
    #[error("run {run_id} is one of flow `{actual}`, not of `{expected}`")]
    OtherFlow {
        /// The run.
        run_id: RunId,
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
        /// The slug that was asked for.
        step: String,
    },
    /// A stored value does not decode into the type that was asked for.
    #[error("what run {run_id} stored does not decode: {reason}; was it written by another version of the flow?")]
    Decode {
        /// The run.
        run_id: RunId,
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
    /// The queue holds messages that do not fit their tasks, and was paused.
    #[error("{0}; the queue is paused until flow.resume_queue is called")]
    Corrupt(String),
    /// The queue holds tasks of steps that this worker does not serve, and the worker's name was disabled.
    #[error("{0}; this worker's name is disabled until flow.enable_worker is called")]
    Misrouted(String),
    /// The database does not know the worker any more.
    #[error("{0}")]
    Gone(String),
    /// This program is older than the database allows.
    #[error("{0}")]
    UpgradeNeeded(String),
    /// The database has refused a call that it would refuse again, or could not be reached at the worker's start.
    #[error(transparent)]
    Db(#[from] DbError),
    /// The worker's own task broke off. Other workers can take its tasks over when its process has stopped.
    #[error("the worker broke off; this is a defect of flow, please report it with the log")]
    BrokeOff,
    /// The operating system refused to watch for signals.
    #[error("cannot watch for SIGTERM and SIGINT")]
    Signals(#[source] std::io::Error),
    /// The worker has not stopped in time. The drain goes on; call `shutdown` again to wait for its end.
    #[error("the worker has not stopped in time; it goes on draining, call shutdown again to wait for it")]
    StillDraining,
}

impl WorkerError {
    /// Whether a later try may help, because the database could not be reached or was busy.
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
        /// The option's name.
        option: &'static str,
        /// The value that was given.
        value: String,
        /// The values that are allowed.
        expected: &'static str,
    },
    /// The worker's steps do not go with its flow's queues.
    #[error("{0}")]
    Steps(String),
    /// Two different flows of one worker set have the same slug.
    #[error("two flows of this worker set have the slug `{0}`; give one of them another slug")]
    SameSlug(String),
}
