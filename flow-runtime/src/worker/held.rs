//! The work that a worker holds, which is claimed and not settled yet, with the means to stop each handler; and the numbers of the
//! worker's exchanges and of the starts that hand over to the worker.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{sync::Notify, task::AbortHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    database::store::{WorkId, WorkerPulse},
    worker::slots::Slots,
};

/// How long work may lack a result after its timeout before the heartbeat asks the database to take the work back. Within this time
/// the result of a timeout is normally sent.
const OVER_TIME: Duration = Duration::from_secs(10);

/// The work that one worker has claimed and not settled, and the worker's slots.
#[derive(Default)]
pub(super) struct Held {
    state: Mutex<State>,
    slots: Slots,
    /// Notified whenever a start is not outstanding any more.
    start_over: Notify,
}

/// One lock guards all of this, so that a heartbeat tells the state of one moment: a batch must not be missing from both the outstanding
/// numbers and the held work, or the database would give its work back.
#[derive(Default)]
struct State {
    work: HashMap<WorkId, HeldWork>,
    /// The highest number that an exchange or a start of this worker has had.
    highest_batch: i64,
    /// The exchange whose reply is still to be taken over.
    exchange: Option<i64>,
    /// The starts whose replies are still to be taken over.
    starts: HashSet<i64>,
    /// The worker drains, and no further start may hand over to it.
    takes_no_starts: bool,
    /// For each batch, how many of its pieces of work are neither settled nor given back.
    unanswered: HashMap<i64, usize>,
    finished: Vec<i64>,
}

/// One claimed piece of work.
pub(super) struct HeldWork {
    /// Cancelled to tell the handler, through its context, to stop.
    pub(super) cancelled: CancellationToken,
    /// Decides whether the handler begins or its work is withdrawn.
    pub(super) beginning: Arc<Beginning>,
    /// Stops an async handler; a blocking one cannot be stopped.
    pub(super) abort: Option<AbortHandle>,
    /// When the attempt's timeout ends, on this process's clock.
    pub(super) due_at: Instant,
    /// The handler has ended, and its result waits to be settled.
    pub(super) has_result: bool,
    /// The database has said that this worker does not hold the work any more.
    pub(super) is_lost: bool,
}

impl HeldWork {
    pub(super) fn new(timeout: Duration) -> Self {
        Self {
            cancelled: CancellationToken::new(),
            beginning: Arc::default(),
            abort: None,
            due_at: Instant::now() + timeout,
            has_result: false,
            is_lost: false,
        }
    }
}

/// Decides a race: either the handler begins, or the drain withdraws its work and gives that work back unused. The first call wins.
#[derive(Default)]
pub(super) struct Beginning(AtomicU8);

const NEW: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;

impl Beginning {
    /// Marks the handler as begun. Returns false when its work was withdrawn: the handler must not begin.
    pub(super) fn begin(&self) -> bool {
        self.0.compare_exchange(NEW, BEGUN, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Withdraws the work. Returns false when its handler has begun.
    fn withdraw(&self) -> bool {
        self.0.compare_exchange(NEW, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire) == BEGUN
    }
}

impl Held {
    /// The number of the next exchange. After a lost reply it is the number of the last exchange again, so that the database repeats its
    /// answer.
    pub(super) fn next_batch(&self) -> i64 {
        let mut state = self.lock();
        if let Some(batch) = state.exchange {
            return batch;
        }
        let batch = state.next();
        state.exchange = Some(batch);
        batch
    }

    /// Whether the reply of the last exchange has not been taken over yet.
    pub(super) fn is_outstanding(&self) -> bool {
        self.lock().exchange.is_some()
    }

    /// Drops the number of the last exchange, which has done nothing in the database; the next exchange gets a new number.
    pub(super) fn nothing_came_of_it(&self) {
        self.lock().exchange = None;
    }

    /// Drops every outstanding number, because the process was ended: what a reply to one of them names is given to others.
    pub(super) fn give_numbers_up(&self) {
        let mut state = self.lock();
        state.exchange = None;
        state.starts.clear();
        self.start_over.notify_waiters();
    }

    /// Returns a number for a start that hands over to this worker. The number is outstanding until the start's reply is taken over or the
    /// start is given up. `None` while the worker drains.
    pub(super) fn begin_start(&self) -> Option<i64> {
        let mut state = self.lock();
        if state.takes_no_starts {
            return None;
        }
        let batch = state.next();
        state.starts.insert(batch);
        Some(batch)
    }

    /// Takes over the work that a start has handed out. Returns false, and holds nothing, when the start was given up before.
    pub(super) fn take_over_start(&self, batch: i64, work: impl Iterator<Item = (WorkId, HeldWork)>) -> bool {
        let mut state = self.lock();
        let is_outstanding = state.starts.remove(&batch);
        if is_outstanding {
            state.hold(work);
            self.start_over.notify_waiters();
        }
        is_outstanding
    }

    /// Drops a start's number, whether its reply was taken over or not.
    pub(super) fn end_start(&self, batch: i64) {
        if self.lock().starts.remove(&batch) {
            self.start_over.notify_waiters();
        }
    }

    /// Lets no further start hand over, waits up to `limit` for the starts that are under way, and gives up those that are left.
    pub(super) async fn end_starts(&self, limit: Duration) {
        self.lock().takes_no_starts = true;
        let is_over = async {
            loop {
                let told = self.start_over.notified();
                if self.lock().starts.is_empty() {
                    return;
                }
                told.await;
            }
        };
        let _ = tokio::time::timeout(limit, is_over).await;
        self.lock().starts.clear();
    }

    /// Takes over the work that the last exchange has handed out, and drops the exchange's number.
    pub(super) fn take_over(&self, work: impl Iterator<Item = (WorkId, HeldWork)>) {
        let mut state = self.lock();
        state.exchange = None;
        state.hold(work);
    }

    /// Stores the handle that stops the handler of a piece of work.
    pub(super) fn set_abort(&self, id: WorkId, abort: AbortHandle) {
        if let Some(work) = self.lock().work.get_mut(&id) {
            work.abort = Some(abort);
        }
    }

    /// Records that the handler of a piece of work has ended.
    pub(super) fn has_result(&self, id: WorkId) {
        if let Some(work) = self.lock().work.get_mut(&id) {
            work.has_result = true;
        }
    }

    /// Forgets a piece of work that was settled or given back. A batch without further work counts as finished.
    pub(super) fn remove(&self, id: WorkId) {
        let mut state = self.lock();
        if state.work.remove(&id).is_none() {
            return;
        }
        if let Some(left) = state.unanswered.get_mut(&id.batch) {
            *left -= 1;
            if *left == 0 {
                state.unanswered.remove(&id.batch);
                state.finished.push(id.batch);
            }
        }
    }

    /// The batches whose work was all settled or given back. The next exchange lets the database forget them.
    pub(super) fn finished(&self) -> Vec<i64> {
        self.lock().finished.clone()
    }

    /// Forgets finished batches that the database has forgotten.
    pub(super) fn forget(&self, finished: &[i64]) {
        self.lock().finished.retain(|batch| !finished.contains(batch));
    }

    pub(super) fn ids(&self) -> Vec<WorkId> {
        self.lock().work.keys().copied().collect()
    }

    /// What a heartbeat tells the database about this worker.
    pub(super) fn pulse(&self, worker_id: i64) -> WorkerPulse {
        let state = self.lock();
        let now = Instant::now();
        let is_over = |work: &HeldWork| !work.has_result && work.beginning.has_begun() && now > work.due_at + OVER_TIME;
        WorkerPulse {
            worker_id,
            highest_batch: state.highest_batch,
            outstanding: state.exchange.iter().chain(&state.starts).copied().collect(),
            held: state.work.iter().filter(|(_, work)| !work.is_lost).map(|(id, work)| (*id, is_over(work))).collect(),
        }
    }

    /// Marks work as lost and cancels its handler: the work is held by another worker, or its run or step has ended. Returns false when
    /// this worker does not hold the work any more, because the work was settled meanwhile.
    pub(super) fn lose(&self, id: WorkId) -> bool {
        let mut state = self.lock();
        let work = state.work.get_mut(&id);
        let is_held = work.is_some();
        if let Some(work) = work {
            work.is_lost = true;
            work.cancelled.cancel();
        }
        is_held
    }

    /// Withdraws the work whose handlers have not begun, and returns it.
    pub(super) fn withdraw_not_begun(&self) -> Vec<WorkId> {
        self.lock().work.iter().filter(|(_, work)| work.beginning.withdraw()).map(|(id, _)| *id).collect()
    }

    /// Cancels every handler's context and aborts the async handlers.
    pub(super) fn abort_all(&self) {
        for work in self.lock().work.values() {
            work.cancelled.cancel();
            if let Some(abort) = &work.abort {
                abort.abort();
            }
        }
    }

    /// How many handlers run now.
    pub(super) fn running(&self) -> usize {
        self.slots.running()
    }

    /// The worker's slots.
    pub(super) fn slots(&self) -> &Slots {
        &self.slots
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self) -> i64 {
        self.highest_batch += 1;
        self.highest_batch
    }

    fn hold(&mut self, work: impl Iterator<Item = (WorkId, HeldWork)>) {
        for (id, work) in work {
            self.work.insert(id, work);
            *self.unanswered.entry(id.batch).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn work(batch: i64) -> (WorkId, HeldWork) {
        (WorkId { run_id: Uuid::now_v7(), step: 0, task: -1, batch }, HeldWork::new(Duration::ZERO))
    }

    // L17 L23
    #[test]
    fn a_number_is_outstanding_until_its_reply_is_taken_over_or_given_up() {
        let held = Held::default();
        let (exchange, start) = (held.next_batch(), held.begin_start().unwrap());
        let pulse = held.pulse(1);
        assert_eq!((pulse.outstanding, pulse.highest_batch), (vec![exchange, start], start));
        assert!(held.take_over_start(start, [work(start)].into_iter()));
        assert_eq!((held.pulse(1).outstanding, held.pulse(1).held.len()), (vec![exchange], 1));
        assert_eq!(held.next_batch(), exchange, "its reply was lost");
        let given_up = held.begin_start().unwrap();
        held.end_start(given_up);
        assert!(!held.take_over_start(given_up, [work(given_up)].into_iter()));
        let ended = held.begin_start().unwrap();
        held.give_numbers_up();
        assert!(!held.take_over_start(ended, [work(ended)].into_iter()));
        assert_eq!((held.pulse(1).outstanding, held.pulse(1).held.len()), (Vec::new(), 1));
    }

    // W5
    #[tokio::test]
    async fn a_worker_that_drains_waits_for_starts_and_takes_no_more() {
        let held = Held::default();
        let (one, other) = (held.begin_start().unwrap(), held.begin_start().unwrap());
        let ends = async {
            held.take_over_start(one, [work(one)].into_iter());
            tokio::task::yield_now().await;
            held.end_start(other);
        };
        tokio::join!(held.end_starts(Duration::from_secs(600)), ends);
        assert!(held.begin_start().is_none());
        assert_eq!(held.ids().len(), 1);
    }
}
