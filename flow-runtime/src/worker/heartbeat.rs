//! What a worker knows of its process: the process's number in the database, and its heartbeat.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::Notify;

/// The heartbeat of a process, as its workers see it.
pub(super) struct Heartbeat {
    process_id: AtomicI64,
    /// Notified to make the process send a heartbeat before the next one is due.
    wanted: Arc<Notify>,
    pub(super) renewal: Renewal,
}

impl Heartbeat {
    /// The heartbeat of a process that is registered under `process_id` with `lease`.
    pub(super) fn new(process_id: i64, lease: Duration) -> Self {
        Self { process_id: AtomicI64::new(process_id), wanted: Arc::default(), renewal: Renewal::new(lease) }
    }

    /// The process's present number. A process that others have ended goes on under a new number.
    pub(super) fn process_id(&self) -> i64 {
        self.process_id.load(Ordering::Acquire)
    }

    /// Gives the process the number under which it goes on.
    pub(super) fn renumber(&self, process_id: i64) {
        self.process_id.store(process_id, Ordering::Release);
    }

    /// Asks for a heartbeat now.
    pub(super) fn want(&self) {
        self.wanted.notify_one();
    }

    /// Waits until somebody asks for a heartbeat.
    pub(super) async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// Returns a handle that asks for a heartbeat when it is notified.
    pub(super) fn waker(&self) -> Arc<Notify> {
        Arc::clone(&self.wanted)
    }
}

/// The last renewal of a process's lease: when its heartbeat began, and how long the lease is.
pub(super) struct Renewal(Mutex<(Instant, Duration)>);

impl Renewal {
    /// A lease of length `lease` that counts from now.
    pub(super) fn new(lease: Duration) -> Self {
        Self(Mutex::new((Instant::now(), lease)))
    }

    /// Records that the heartbeat which began at `began_at` was answered.
    pub(super) fn succeeded(&self, began_at: Instant, lease: Duration) {
        *self.lock() = (began_at, lease);
    }

    fn lock(&self) -> MutexGuard<'_, (Instant, Duration)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long ago the last answered heartbeat began, and whether the lease that counts from there still holds.
    pub(super) fn age(&self) -> (Duration, bool) {
        let (began_at, lease) = *self.lock();
        let age = began_at.elapsed();
        (age, age < lease)
    }
}
