//! What the database answers about workers, results and failures.

use std::time::Duration;

use serde::Deserialize;
use uuid::Uuid;

/// The database's answer to one settlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// It counts.
    Accepted,
    /// It was accepted before; this was the same one again.
    AlreadySettled,
    /// It changed nothing: the work was somebody else's by then, or its run or step had ended.
    Lost,
    /// Somebody else has locked its run: it is to be sent again.
    Busy,
}

/// Whether a worker may claim, and why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WorkerState {
    /// It may.
    Ok,
    /// The exchange did nothing: an earlier one of the worker is still at work, or somebody looks whether its process lives.
    Busy,
    /// The queue is paused.
    Paused,
    /// The worker was asked to drain, or its name is disabled.
    Draining,
    /// Its process has not renewed its lease in time, and was not ended yet.
    Late,
    /// Its process was ended.
    ProcessEnded,
    /// The queue holds messages that do not fit their work; it was paused.
    Corrupt,
    /// The queue holds work of steps that the worker does not serve; its name was disabled.
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
    /// The next attempt.
    Retry,
    /// The run fails.
    Fail,
    /// The step is skipped.
    Skip,
    /// The step and everything behind it are skipped.
    SkipCascade,
}

impl AfterFailure {
    /// The word, as options have it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Fail => "fail",
            Self::Skip => "skip",
            Self::SkipCascade => "skip_cascade",
        }
    }
}

/// What became of a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) next: AfterFailure,
    /// The wait before the next attempt; zero when there is none.
    pub(crate) wait: Duration,
    /// How many attempts the step allows.
    pub(crate) max_attempts: i32,
}

/// A run that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FailedRun {
    pub(crate) run_id: Uuid,
    /// The step that is to blame, if any.
    pub(crate) step: Option<i32>,
    pub(crate) error: String,
}
