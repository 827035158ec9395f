//! The tasks a worker holds: claimed and not settled yet, with the means to stop them.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, AtomicUsize, Ordering},
    },
};

use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::store::TaskId;

/// Every task of one worker that is claimed and not settled, and how many handlers run.
#[derive(Default)]
pub(super) struct Held {
    tasks: Mutex<HashMap<TaskId, HeldTask>>,
    running: Arc<AtomicUsize>,
}

/// One claimed task.
pub(super) struct HeldTask {
    /// Told to the handler through its context.
    pub(super) cancelled: CancellationToken,
    /// Whether its handler may still be kept from beginning.
    pub(super) beginning: Arc<Beginning>,
    /// Stops an async handler; a blocking one cannot be stopped.
    pub(super) abort: Option<AbortHandle>,
}

/// Settles who comes first: the handler that begins, or the drain that gives its task back unused.
#[derive(Default)]
pub(super) struct Beginning(AtomicU8);

const NEW: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;

impl Beginning {
    /// Lets the handler begin, unless its task was withdrawn.
    pub(super) fn begin(&self) -> bool {
        self.0.compare_exchange(NEW, BEGUN, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Withdraws the task, unless its handler has begun.
    fn withdraw(&self) -> bool {
        self.0.compare_exchange(NEW, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// A running handler's place; given back when dropped.
pub(super) struct Slot {
    running: Arc<AtomicUsize>,
}

impl Held {
    pub(super) fn insert(&self, id: TaskId, task: HeldTask) {
        // A worker may be handed its own task again when it could not renew in time: the first handler has lost its lease.
        if let Some(earlier) = self.lock().insert(id, task) {
            earlier.cancelled.cancel();
        }
    }

    pub(super) fn remove(&self, id: TaskId) {
        self.lock().remove(&id);
    }

    pub(super) fn ids(&self) -> Vec<TaskId> {
        self.lock().keys().copied().collect()
    }

    /// Tells the handler that it has lost its lease, or that its run was cancelled. False when the task is not held any
    /// more, because it was settled meanwhile.
    pub(super) fn cancel(&self, id: TaskId) -> bool {
        let tasks = self.lock();
        let task = tasks.get(&id);
        if let Some(task) = task {
            task.cancelled.cancel();
        }
        task.is_some()
    }

    /// Keeps the handlers that have not begun from beginning; returns their tasks.
    pub(super) fn withdraw_not_begun(&self) -> Vec<TaskId> {
        self.lock().iter().filter(|(_, task)| task.beginning.withdraw()).map(|(id, _)| *id).collect()
    }

    /// Tells every handler that the worker stops, and stops the async ones.
    pub(super) fn abort_all(&self) {
        for task in self.lock().values() {
            task.cancelled.cancel();
            if let Some(abort) = &task.abort {
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

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, HeldTask>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::AcqRel);
    }
}
