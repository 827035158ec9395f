//! What a worker knows of its process: the number under which the database knows it, and its heartbeat.

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
    /// A heartbeat is wanted now.
    wanted: Arc<Notify>,
    pub(super) renewal: Renewal,
}

impl Heartbeat {
    /// The heartbeat of a process that begins with this number and lease.
    pub(super) fn new(process_id: i64, lease: Duration) -> Self {
        Self { process_id: AtomicI64::new(process_id), wanted: Arc::default(), renewal: Renewal::new(lease) }
    }

    /// The process's number now: a process that was ended goes on under another one.
    pub(super) fn process_id(&self) -> i64 {
        self.process_id.load(Ordering::Acquire)
    }

    /// The process goes on under this number.
    pub(super) fn renumber(&self, process_id: i64) {
        self.process_id.store(process_id, Ordering::Release);
    }

    /// Asks for a heartbeat now.
    pub(super) fn want(&self) {
        self.wanted.notify_one();
    }

    /// Ends when a heartbeat is asked for.
    pub(super) async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// Asks for a heartbeat when notified.
    pub(super) fn waker(&self) -> Arc<Notify> {
        Arc::clone(&self.wanted)
    }
}

/// The last renewal of a process's lease.
pub(super) struct Renewal(Mutex<(Instant, Duration)>);

impl Renewal {
    /// A lease of this length that counts from now.
    pub(super) fn new(lease: Duration) -> Self {
        Self(Mutex::new((Instant::now(), lease)))
    }

    /// A heartbeat that began then was answered.
    pub(super) fn succeeded(&self, began_at: Instant, lease: Duration) {
        *self.lock() = (began_at, lease);
    }

    fn lock(&self) -> MutexGuard<'_, (Instant, Duration)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long ago the last heartbeat began, and whether its lease holds.
    pub(super) fn age(&self) -> (Duration, bool) {
        let (began_at, lease) = *self.lock();
        let age = began_at.elapsed();
        (age, age < lease)
    }
}
