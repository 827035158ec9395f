//! How a worker is, for whoever asks whether its process is to be restarted or takes work.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::worker::heartbeat::Heartbeat;

/// How a worker is. Its ages are measured by this process's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerHealth {
    /// The worker has not ended: for a liveness probe. It stays true while the database is away, which no restart would mend.
    pub is_alive: bool,
    /// The worker takes work: it is alive and does not drain, its process's lease holds, and its last exchange went well. For a
    /// readiness probe.
    pub is_ready: bool,
    /// How long ago the last heartbeat that the database answered began: the lease counts from there.
    pub heartbeat_age: Duration,
    /// How long ago the last exchange was answered; `None` before the first. A worker whose slots are all taken, or that finds
    /// nothing, makes none until a handler ends or the poll interval has passed.
    pub exchange_age: Option<Duration>,
}

impl WorkerHealth {
    /// The health of two workers as one: alive and ready when both are, with the greater ages.
    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            is_alive: self.is_alive && other.is_alive,
            is_ready: self.is_ready && other.is_ready,
            heartbeat_age: self.heartbeat_age.max(other.heartbeat_age),
            exchange_age: self.exchange_age.zip(other.exchange_age).map(|(one, other)| one.max(other)),
        }
    }
}

/// The last exchange of a worker.
#[derive(Default)]
pub(super) struct LastExchange {
    answered_at: Mutex<Option<Instant>>,
    has_failed: AtomicBool,
}

impl LastExchange {
    pub(super) fn succeeded(&self) {
        *lock(&self.answered_at) = Some(Instant::now());
        self.has_failed.store(false, Ordering::Relaxed);
    }

    pub(super) fn failed(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }
}

/// What a running worker's health is read from.
pub(super) struct Vitals {
    pub(super) heartbeat: Arc<Heartbeat>,
    pub(super) last_exchange: Arc<LastExchange>,
}

impl Vitals {
    /// The health of a worker that has not ended, or has, and that takes new work, or drains.
    pub(super) fn health(&self, is_alive: bool, is_draining: bool) -> WorkerHealth {
        let Self { heartbeat, last_exchange } = self;
        let (heartbeat_age, holds_lease) = heartbeat.renewal.age();
        let has_failed = last_exchange.has_failed.load(Ordering::Relaxed);
        WorkerHealth {
            is_alive,
            is_ready: is_alive && !is_draining && holds_lease && !has_failed,
            heartbeat_age,
            exchange_age: lock(&last_exchange.answered_at).map(|at| at.elapsed()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
