//! The tasks a worker holds: claimed and not settled yet, with the means to stop them.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
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
    /// Its handler has been polled.
    pub(super) has_begun: Arc<AtomicBool>,
    /// Stops an async handler; a blocking one cannot be stopped.
    pub(super) abort: Option<AbortHandle>,
}

/// A running handler's place; given back when dropped.
pub(super) struct Slot {
    running: Arc<AtomicUsize>,
}

impl Held {
    pub(super) fn insert(&self, id: TaskId, task: HeldTask) {
        self.lock().insert(id, task);
    }

    pub(super) fn remove(&self, id: TaskId) {
        self.lock().remove(&id);
    }

    pub(super) fn ids(&self) -> Vec<TaskId> {
        self.lock().keys().copied().collect()
    }

    /// Tells the handler that it has lost its lease, or that its run was cancelled.
    pub(super) fn cancel(&self, id: TaskId) {
        if let Some(task) = self.lock().get(&id) {
            task.cancelled.cancel();
        }
    }

    /// Stops the handlers that have not begun; returns their tasks.
    pub(super) fn abort_not_begun(&self) -> Vec<TaskId> {
        let tasks = self.lock();
        let waiting = tasks.iter().filter(|(_, task)| task.abort.is_some() && !task.has_begun.load(Ordering::Acquire));
        waiting.map(|(id, task)| (*id, task.abort.as_ref().map(AbortHandle::abort)).0).collect()
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
