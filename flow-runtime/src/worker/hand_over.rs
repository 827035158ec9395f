//! Starts that hand over: when this program starts a run and has a worker of the run's flow with free slots, the run's first steps begin
//! in that worker at once, without a message.

use std::{sync::Arc, time::Duration};

use flow_core::definition::FlowDefinition;

use crate::{
    database::{
        db::Db,
        store::{self, Handed, Handing, NewRuns, Started},
    },
    error::StartError,
    fault,
    worker::{attempt, process::ProcessSlot, shared::Shared, slots::Reservation},
};

/// The longest time for which a start reserves slots, so that a frozen call does not keep a worker from its queue. The start then goes on
/// without the slots, and the next heartbeat gives back what the start hands out all the same.
const LONGEST_SEAT: Duration = Duration::from_secs(2);

/// The most bytes of inputs that a start which hands over may have, since the reply carries the inputs of the runs that begin here back.
const LARGEST_INPUTS: usize = 16 << 20;

/// Slots of a worker that are reserved for one start, and the number under which the start hands over. Dropping the seat frees the slots
/// and gives the start up: the next heartbeat gives back what was handed out under the number and not taken over.
struct Seat {
    shared: Arc<Shared>,
    batch: i64,
    slots: Reservation,
}

/// Starts runs, and takes over the work that the database hands to a worker of this program.
pub(crate) async fn start_runs(db: &Db, new: &NewRuns) -> Result<Started, StartError> {
    let Some(seat) = seat(&db.companion::<ProcessSlot>(), new) else {
        return store::start_runs(db.pool(), new, None).await;
    };
    if fault::is_cut("reserved") {
        drop(seat);
        return store::start_runs(db.pool(), new, None).await;
    }
    let handing = seat.handing();
    let mut call = std::pin::pin!(store::start_runs(db.pool(), new, Some(&handing)));
    let Ok(started) = tokio::time::timeout(LONGEST_SEAT, &mut call).await else {
        drop(seat);
        return call.await;
    };
    let mut started = started?;
    seat.take_over(std::mem::take(&mut started.handed));
    Ok(started)
}

/// Reserves slots for the first steps of new runs, in the worker of this program that serves their flow and can take most of them.
/// `None` when no worker has a free slot, and for runs with a start time or very large inputs.
fn seat(process: &ProcessSlot, new: &NewRuns) -> Option<Seat> {
    let is_large = || new.inputs.iter().map(String::len).sum::<usize>() > LARGEST_INPUTS;
    if !new.start_at.is_empty() || is_large() {
        return None;
    }
    let runs = new.inputs.len();
    let serves = |worker: &Arc<Shared>| worker.flow.slug() == new.slug && !worker.stop.is_cancelled();
    let room = |worker: &Arc<Shared>| worker.free_slots().min(worker.first_steps.saturating_mul(runs));
    let shared = process.present()?.workers().into_iter().filter(serves).max_by_key(room)?;
    let mut slots = shared.held.slots().reservation();
    if slots.grow_to(shared.first_steps.saturating_mul(runs), shared.concurrency()) == 0 {
        return None;
    }
    let batch = shared.held.begin_start()?;
    Some(Seat { shared, batch, slots })
}

impl Seat {
    fn handing(&self) -> Handing {
        Handing {
            process_id: self.shared.heartbeat.process_id(),
            worker_id: self.shared.worker_id,
            batch: self.batch,
            slots: self.slots.count(),
        }
    }

    /// Runs the handlers of the work that was handed over.
    fn take_over(mut self, handed: Handed) {
        if !handed.claimed.is_empty() && fault::is_cut("handed") {
            return;
        }
        attempt::take_over_start(&self.shared, self.batch, handed, &mut self.slots);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.shared.held.end_start(self.batch);
        if self.slots.shrink_to(0) > 0 {
            // The main loop may be waiting for a free slot.
            self.shared.wake.notify_one();
        }
    }
}

/// How many of the steps that a worker serves begin with their run: single steps without dependencies and delay. None in a flow where a
/// first step has a condition, since an unmet condition may end the run at once.
pub(super) fn first_steps(definition: &FlowDefinition, served: &[usize]) -> usize {
    let steps = &definition.shape.steps;
    let is_first =
        |step: usize| steps[step].needs.is_empty() && steps[step].after.is_empty() && !is_behind(definition, step);
    let has_condition = |step: usize| steps[step].run_if.is_some() || steps[step].run_unless.is_some();
    if (0..steps.len()).any(|step| is_first(step) && has_condition(step)) {
        return 0;
    }
    let is_delayed = |step: usize| {
        definition.options.steps.get(step).and_then(|options| options.start_delay_ms).is_some_and(|delay| delay > 0)
    };
    let begins = |step: &&usize| is_first(**step) && steps[**step].over.is_none() && !is_delayed(**step);
    served.iter().filter(begins).count()
}

/// Whether the step is a map over another step's output, and so depends on that step.
fn is_behind(definition: &FlowDefinition, step: usize) -> bool {
    definition.shape.steps[step].over.as_deref().is_some_and(|over| over != "input")
}
