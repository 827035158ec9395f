//! One attempt: the handler's call under its timeout, with panics caught.

use std::{
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use chrono::{DateTime, Utc};
use flow_core::error::{FailureAction, StepError};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    database::store::{Claimed, Handed, Outcome, Settlement, WorkId},
    fault,
    handler::{
        StepCall, StepResult,
        args::StepArgs,
        context::{Facts, StepContext},
    },
    worker::{
        held::{Beginning, HeldWork},
        panic,
        shared::Shared,
        slots::{Reservation, Slot},
    },
};

/// The largest output, in bytes, that is sent to the database: the highest value that the setting `max_value_bytes` can have.
const LARGEST_OUTPUT: usize = 100 << 20;

/// Takes over the work that an exchange has handed out and runs its handlers. Each outcome goes into the worker's channel of results.
pub(super) fn take_over(
    shared: &Arc<Shared>,
    claimed: Vec<Claimed>,
    claimed_at: DateTime<Utc>,
    slots: &mut Reservation,
) {
    let (held, begun) = prepare(claimed);
    shared.held.take_over(held.into_iter());
    begin(shared, begun, claimed_at, slots);
}

/// Takes over the work that a start has handed out under `batch` and runs its handlers. Does nothing when that start was given up
/// meanwhile: the heartbeat then gives the work back.
pub(super) fn take_over_start(shared: &Arc<Shared>, batch: i64, handed: Handed, slots: &mut Reservation) {
    // Runs in the task that starts the runs, so the worker's span is entered: the handlers' log lines must not stand under the caller's
    // span.
    let _worker = shared.span.enter();
    let (held, begun) = prepare(handed.claimed);
    if shared.held.take_over_start(batch, held.into_iter()) {
        begin(shared, begun, handed.claimed_at.unwrap_or_else(Utc::now), slots);
    }
}

/// Claimed work, with the token that cancels its handler and the switch that lets the handler begin or withdraws the work.
type Begun = (Claimed, CancellationToken, Arc<Beginning>);

fn prepare(claimed: Vec<Claimed>) -> (Vec<(WorkId, HeldWork)>, Vec<Begun>) {
    let (mut held, mut begun) = (Vec::with_capacity(claimed.len()), Vec::with_capacity(claimed.len()));
    for claimed in claimed {
        let (id, work) = (claimed.id, HeldWork::new(claimed.timeout));
        begun.push((claimed, work.cancelled.clone(), Arc::clone(&work.beginning)));
        held.push((id, work));
    }
    (held, begun)
}

fn begin(shared: &Arc<Shared>, begun: Vec<Begun>, claimed_at: DateTime<Utc>, slots: &mut Reservation) {
    if shared.stop.is_cancelled() {
        // The worker drains: no handler may begin. The work stays held as not begun, and the drain or the heartbeat gives it back.
        return;
    }
    for begun in begun {
        spawn(shared, begun, claimed_at, slots);
    }
}

/// Spawns the handler of one piece of work. Exhausted work is settled as `LeaseExpired` at once, without its handler.
fn spawn(
    shared: &Arc<Shared>,
    (claimed, cancelled, beginning): Begun,
    claimed_at: DateTime<Utc>,
    slots: &mut Reservation,
) {
    let (id, attempt) = (claimed.id, claimed.attempt);
    if claimed.is_exhausted {
        beginning.begin();
        shared.finish(Settlement { id, attempt, outcome: Outcome::LeaseExpired });
        return;
    }

    let step = usize::try_from(id.step).unwrap_or_default();
    let slug = Arc::clone(&shared.flow.slugs[step]);
    let span = tracing::info_span!(
        "attempt", flow = shared.flow.slug(), step = &*slug, run = %id.run_id, task = id.task_index(), attempt
    );
    let facts = Facts {
        run_id: id.run_id.into(),
        step: slug,
        task_index: id.task_index(),
        attempt: attempt.unsigned_abs(),
        worker_id: shared.worker_id.into(),
        deadline: claimed_at + claimed.timeout,
    };
    let ctx = StepContext::new(facts, cancelled);
    let args = StepArgs { input: claimed.input, item: claimed.item, deps: claimed.deps };
    let args = shared.flow.own_values(step, args);
    let slot = slots.fill();
    let run = {
        let shared = Arc::clone(shared);
        async move {
            if !beginning.begin() {
                return;
            }
            fault::is_cut("handling");
            let outcome = run_attempt(&shared, step, args, ctx, claimed.timeout, slot).await;
            fault::is_cut("handled");
            shared.finish(Settlement { id, attempt, outcome });
        }
    };
    let task = shared.handlers.spawn_on(run.instrument(span), &shared.runtime);
    shared.held.set_abort(id, task.abort_handle());
}

/// Calls the handler and waits up to `timeout` for its result. The slot is free again when the handler's code has ended, which for a
/// blocking handler may be after the timeout.
async fn run_attempt(
    shared: &Shared,
    step: usize,
    args: StepArgs,
    ctx: StepContext,
    timeout: Duration,
    slot: Slot,
) -> Outcome {
    let call = match catch_unwind(AssertUnwindSafe(|| shared.flow.handlers.call(step, args, ctx))) {
        Ok(call) => call,
        Err(panic) => return Outcome::Panic(panic::text(&*panic)),
    };
    let ended = match call {
        StepCall::Async(handler) => {
            let _slot = slot;
            tokio::time::timeout(timeout, caught(handler)).await.ok()
        }
        StepCall::Blocking(handler) => {
            // The closure returns the slot with the result, so that the slot is not free before the result is here.
            let run = move || {
                let ended = catch_unwind(AssertUnwindSafe(handler)).map_err(|panic| panic::text(&*panic));
                (ended, slot)
            };
            let mut handler = tokio::task::spawn_blocking(run);
            match tokio::time::timeout(timeout, &mut handler).await {
                Ok(Ok((ended, _slot))) => Some(ended),
                Ok(Err(error)) => Some(Err(error.to_string())),
                Err(_) => {
                    // The blocking handler still runs and keeps its slot. This task waits for its end, then wakes the main loop, which may
                    // be waiting for a free slot.
                    let wake = Arc::clone(&shared.wake);
                    tokio::spawn(async move {
                        let _ = handler.await;
                        wake.notify_one();
                    });
                    None
                }
            }
        }
    };
    match ended {
        Some(Ok(result)) => outcome(result),
        Some(Err(panic)) => Outcome::Panic(panic),
        None => Outcome::Timeout(format!("the handler passed its timeout of {timeout:?}")),
    }
}

fn outcome(result: StepResult) -> Outcome {
    match result {
        Ok(output) if output.len() > LARGEST_OUTPUT => Outcome::Permanent(format!(
            "the output has {} bytes, more than the {LARGEST_OUTPUT} that max_value_bytes can be set to; store it elsewhere and \
             return a reference",
            output.len()
        )),
        Ok(output) => Outcome::Complete(output),
        Err(error) => failure(&error),
    }
}

fn failure(error: &StepError) -> Outcome {
    let text = error.message().to_owned();
    match error.action() {
        FailureAction::RetryAfter(delay) => Outcome::Error(text, Some(delay)),
        FailureAction::Permanent if error.is_undecodable() => Outcome::Undecodable(text),
        FailureAction::Permanent => Outcome::Permanent(text),
        FailureAction::Retry => Outcome::Error(text, None),
    }
}

/// Polls the handler to its end. Returns the handler's result, or the text of its panic.
async fn caught(mut handler: Pin<Box<dyn Future<Output = StepResult> + Send>>) -> Result<StepResult, String> {
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| handler.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(result)) => Poll::Ready(Ok(result)),
        Err(panic) => Poll::Ready(Err(panic::text(&*panic))),
    })
    .await
}
