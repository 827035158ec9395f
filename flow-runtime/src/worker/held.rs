//! The work that a worker holds: claimed and not settled yet, with the means to stop it, and the numbers of its exchanges and of the
//! starts that hand over to it.

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

/// How long work may run past its timeout before the heartbeat asks for it to be taken back: its result has this time to be told.
const OVER_TIME: Duration = Duration::from_secs(10);

/// Everything of one worker that is claimed and not settled, and how many handlers run.
#[derive(Default)]
pub(super) struct Held {
    state: Mutex<State>,
    slots: Slots,
    /// Told whenever a start is not outstanding any more.
    start_over: Notify,
}

/// What a heartbeat tells must be of one moment, so one lock guards all of it.
#[derive(Default)]
struct State {
    work: HashMap<WorkId, HeldWork>,
    /// The highest number that an exchange or a start has had.
    highest_batch: i64,
    /// The exchange whose reply is still to be taken over.
    exchange: Option<i64>,
    /// The starts whose replies are still to be taken over.
    starts: HashSet<i64>,
    /// The worker drains, and no start hands over to it any more.
    takes_no_starts: bool,
    /// How much of each batch is not answered for.
    unanswered: HashMap<i64, usize>,
    finished: Vec<i64>,
}

/// One claimed piece of work.
pub(super) struct HeldWork {
    /// Told to the handler through its context.
    pub(super) cancelled: CancellationToken,
    /// Whether its handler may still be kept from beginning.
    pub(super) beginning: Arc<Beginning>,
    /// Stops an async handler; a blocking one cannot be stopped.
    pub(super) abort: Option<AbortHandle>,
    /// When its timeout has passed.
    pub(super) due_at: Instant,
    /// Its handler has ended; the result is on its way.
    pub(super) has_result: bool,
    /// It is somebody else's by now.
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

/// Settles who comes first: the handler that begins, or the drain that gives its work back unused.
#[derive(Default)]
pub(super) struct Beginning(AtomicU8);

const NEW: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;

impl Beginning {
    /// Lets the handler begin, unless its work was withdrawn.
    pub(super) fn begin(&self) -> bool {
        self.0.compare_exchange(NEW, BEGUN, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Withdraws the work, unless its handler has begun.
    fn withdraw(&self) -> bool {
        self.0.compare_exchange(NEW, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire) == BEGUN
    }
}

impl Held {
    /// The number of the exchange to be made: a new one, or again that of the last, whose reply was lost.
    pub(super) fn next_batch(&self) -> i64 {
        let mut state = self.lock();
        if let Some(batch) = state.exchange {
            return batch;
        }
        let batch = state.next();
        state.exchange = Some(batch);
        batch
    }

    /// Whether the reply of the last exchange is still to come.
    pub(super) fn is_outstanding(&self) -> bool {
        self.lock().exchange.is_some()
    }

    /// The last exchange has done nothing: its number is of no use any more.
    pub(super) fn nothing_came_of_it(&self) {
        self.lock().exchange = None;
    }

    /// The process was ended: nothing that an earlier number has handed out counts, and none of the replies that are still to come does.
    pub(super) fn give_numbers_up(&self) {
        let mut state = self.lock();
        state.exchange = None;
        state.starts.clear();
        self.start_over.notify_waiters();
    }

    /// The number of a start that hands over to this worker: outstanding until its reply is taken over or nobody waits for that any more.
    /// None while the worker drains.
    pub(super) fn begin_start(&self) -> Option<i64> {
        let mut state = self.lock();
        if state.takes_no_starts {
            return None;
        }
        let batch = state.next();
        state.starts.insert(batch);
        Some(batch)
    }

    /// Takes over what a start has handed out. False when the start was given up before: then nobody holds that.
    pub(super) fn take_over_start(&self, batch: i64, work: impl Iterator<Item = (WorkId, HeldWork)>) -> bool {
        let mut state = self.lock();
        let is_outstanding = state.starts.remove(&batch);
        if is_outstanding {
            state.hold(work);
            self.start_over.notify_waiters();
        }
        is_outstanding
    }

    /// The start is not outstanding any more, whatever became of it.
    pub(super) fn end_start(&self, batch: i64) {
        if self.lock().starts.remove(&batch) {
            self.start_over.notify_waiters();
        }
    }

    /// Lets no further start hand over, and waits for up to `limit` for those that are under way; the rest is given up.
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

    /// Takes over what the last exchange handed out.
    pub(super) fn take_over(&self, work: impl Iterator<Item = (WorkId, HeldWork)>) {
        let mut state = self.lock();
        state.exchange = None;
        state.hold(work);
    }

    /// Says how the handler of a piece of work is stopped.
    pub(super) fn set_abort(&self, id: WorkId, abort: AbortHandle) {
        if let Some(work) = self.lock().work.get_mut(&id) {
            work.abort = Some(abort);
        }
    }

    /// The handler of a piece of work has ended.
    pub(super) fn has_result(&self, id: WorkId) {
        if let Some(work) = self.lock().work.get_mut(&id) {
            work.has_result = true;
        }
    }

    /// The database has answered for a piece of work, or it was given back.
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

    /// The batches of which everything has been answered for.
    pub(super) fn finished(&self) -> Vec<i64> {
        self.lock().finished.clone()
    }

    /// Forgets batches that the database has forgotten.
    pub(super) fn forget(&self, finished: &[i64]) {
        self.lock().finished.retain(|batch| !finished.contains(batch));
    }

    pub(super) fn ids(&self) -> Vec<WorkId> {
        self.lock().work.keys().copied().collect()
    }

    /// What a heartbeat tells of this worker.
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

    /// Tells the handler that its work is somebody else's by now, or that its run was cancelled. False when the work is not held any
    /// more, because it was settled meanwhile.
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

    /// Keeps the handlers that have not begun from beginning; returns their work.
    pub(super) fn withdraw_not_begun(&self) -> Vec<WorkId> {
        self.lock().work.iter().filter(|(_, work)| work.beginning.withdraw()).map(|(id, _)| *id).collect()
    }

    /// Tells every handler that the worker stops, and stops the async ones.
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
