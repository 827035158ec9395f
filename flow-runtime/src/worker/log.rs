//! The log lines of a worker about attempts and runs. The worker's span adds the worker's queue, id and name to each line.

use crate::{
    database::store::{AfterFailure, FailedRun, Fate, Settlement, WhyLost, WorkId},
    worker::shared::Shared,
};

/// Logs that an attempt failed, and what follows.
pub(super) fn attempt_failed(shared: &Shared, settlement: &Settlement, fate: &Fate) {
    let Settlement { id, attempt, outcome } = settlement;
    let (flow, step, error) = (shared.flow.slug(), shared.step_slug(id.step), outcome.error().unwrap_or_default());
    match fate.next {
        AfterFailure::Retry => tracing::warn!(
            flow, step, run = %id.run_id, task = id.task_index(), attempt, of = fate.max_attempts, error,
            next_attempt_in = ?fate.wait, "attempt failed; it is tried again"
        ),
        AfterFailure::Fail => tracing::warn!(
            flow, step, run = %id.run_id, task = id.task_index(), attempt, of = fate.max_attempts, error,
            "attempt failed for good"
        ),
        AfterFailure::Skip | AfterFailure::SkipCascade => tracing::error!(
            flow, step, run = %id.run_id, task = id.task_index(), attempt, of = fate.max_attempts, error,
            when_exhausted = fate.next.as_str(), "step failed for good and is skipped"
        ),
    }
}

/// Logs that a run failed.
pub(super) fn run_failed(shared: &Shared, run: &FailedRun) {
    let step = run.step.map(|step| shared.step_slug(step));
    tracing::error!(flow = shared.flow.slug(), step, run = %run.run_id, error = run.error, "run failed");
}

/// Logs that a result came too late to count.
pub(super) fn result_dropped(shared: &Shared, settlement: &Settlement) {
    let id = settlement.id;
    tracing::warn!(
        flow = shared.flow.slug(), step = shared.step_slug(id.step), run = %id.run_id, task = id.task_index(), attempt = settlement.attempt,
        "the attempt had lost its lease or its run had ended, so its result was dropped"
    );
}

/// Logs that attempts of this worker are to stop: one line for each run that was cancelled or failed, one for each other piece of work
/// that the worker does not hold any more.
pub(super) fn work_lost(shared: &Shared, lost: &[(WorkId, WhyLost)]) {
    let mut cancelled: Vec<_> =
        lost.iter().filter(|(_, why)| *why == WhyLost::Cancelled).map(|(id, _)| id.run_id).collect();
    cancelled.sort_unstable();
    cancelled.dedup();
    for run in cancelled {
        let tasks = lost.iter().filter(|(id, _)| id.run_id == run).count();
        tracing::info!(flow = shared.flow.slug(), %run, tasks, "run ended before its time; its handlers are told to stop");
    }
    for (id, reason) in lost.iter().filter(|(_, why)| *why != WhyLost::Cancelled) {
        tracing::info!(
            flow = shared.flow.slug(), step = shared.step_slug(id.step), run = %id.run_id, task = id.task_index(),
            reason = reason.as_str(), "lease lost"
        );
    }
}
