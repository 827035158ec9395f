//! The work that a worker holds: claimed and not settled yet, with the means to stop it, and the numbers of its exchanges.

use std::{
    collections::HashMap,
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::store::{WorkId, WorkerPulse};

/// How long work may run past its timeout before the heartbeat asks for it to be taken back: its result has this time to be told.
const OVER_TIME: Duration = Duration::from_secs(10);

/// Everything of one worker that is claimed and not settled, and how many handlers run.
#[derive(Default)]
pub(super) struct Held {
    state: Mutex<State>,
    running: Arc<AtomicUsize>,
}

/// What a heartbeat tells must be of one moment, so one lock guards all of it.
#[derive(Default)]
struct State {
    work: HashMap<WorkId, HeldWork>,
    /// The number of the latest exchange.
    highest_batch: i64,
    /// The reply of that exchange is still to be taken over.
    is_outstanding: bool,
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

/// A running handler's place; given back when dropped.
pub(super) struct Slot {
    running: Arc<AtomicUsize>,
}

impl Held {
    /// The number of the exchange to be made: a new one, or again that of the last, whose reply was lost.
    pub(super) fn next_batch(&self) -> i64 {
        let mut state = self.lock();
        if !mem::replace(&mut state.is_outstanding, true) {
            state.highest_batch += 1;
        }
        state.highest_batch
    }

    /// Whether the reply of the last exchange is still to come.
    pub(super) fn is_outstanding(&self) -> bool {
        self.lock().is_outstanding
    }

    /// The last exchange has done nothing: its number is of no use any more.
    pub(super) fn nothing_came_of_it(&self) {
        self.lock().is_outstanding = false;
    }

    /// Takes over what the last exchange handed out.
    pub(super) fn take_over(&self, work: impl Iterator<Item = (WorkId, HeldWork)>) {
        let mut state = self.lock();
        state.is_outstanding = false;
        for (id, work) in work {
            state.work.insert(id, work);
            *state.unanswered.entry(id.batch).or_default() += 1;
        }
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
            outstanding: state.is_outstanding.then_some(state.highest_batch),
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
        self.running.load(Ordering::Acquire)
    }

    /// Takes a place for one handler.
    pub(super) fn take_slot(&self) -> Slot {
        self.running.fetch_add(1, Ordering::AcqRel);
        Slot { running: Arc::clone(&self.running) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::AcqRel);
    }
}
