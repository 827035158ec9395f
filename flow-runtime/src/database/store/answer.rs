//! The database's answers about workers, results and failures.

use std::time::Duration;

use serde::Deserialize;
use uuid::Uuid;

/// The database's answer to one settlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// The result was recorded.
    Accepted,
    /// The same result was recorded before.
    AlreadySettled,
    /// The result changed nothing: the worker did not hold the work any more, or the work's run or step had ended.
    Lost,
    /// Another transaction has locked the run: the result is to be sent again.
    Busy,
}

/// Whether a worker may claim, and why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WorkerState {
    /// The worker may claim.
    Ok,
    /// The exchange did nothing: an earlier exchange of the worker is still at work, or another process is just trying to end this one.
    Busy,
    /// The queue is paused.
    Paused,
    /// The worker was asked to drain, or its name is disabled.
    Draining,
    /// The process's lease is over, and nobody has ended the process yet.
    Late,
    /// The process was ended, or its number is gone.
    ProcessEnded,
    /// The queue holds messages that do not fit their work, and was paused.
    Corrupt,
    /// The queue holds work of steps that the worker does not serve, and the worker's name was disabled.
    Misrouted,
    /// The database does not know the worker any more.
    WorkerGone,
    /// This program's interface is older than the database allows.
    UpgradeNeeded,
}

impl WorkerState {
    /// Whether the worker is to stop.
    pub(crate) const fn is_the_end(self) -> bool {
        match self {
            Self::Draining | Self::Corrupt | Self::Misrouted | Self::WorkerGone | Self::UpgradeNeeded => true,
            Self::Ok | Self::Busy | Self::Paused | Self::Late | Self::ProcessEnded => false,
        }
    }
}

/// What follows a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AfterFailure {
    /// The work is tried again.
    Retry,
    /// The run fails.
    Fail,
    /// The step is skipped.
    Skip,
    /// The step and every step that depends on it are skipped.
    SkipCascade,
}

impl AfterFailure {
    /// The word, as in the option `when_exhausted`.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Fail => "fail",
            Self::Skip => "skip",
            Self::SkipCascade => "skip_cascade",
        }
    }
}

/// What follows a failed attempt, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) next: AfterFailure,
    /// The wait before the next attempt; zero when there is no next attempt.
    pub(crate) wait: Duration,
    /// How many attempts the step allows.
    pub(crate) max_attempts: i32,
}

/// A run that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FailedRun {
    pub(crate) run_id: Uuid,
    /// The step that made the run fail, if any.
    pub(crate) step: Option<i32>,
    pub(crate) error: String,
}
