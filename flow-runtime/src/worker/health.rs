//! A worker's health, for liveness and readiness probes.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::worker::heartbeat::Heartbeat;

/// A worker's health. The ages are measured by this process's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerHealth {
    /// The worker has not ended. For a liveness probe: the value stays true while the database is away, since a restart would not help.
    pub is_alive: bool,
    /// The worker takes work: it is alive and does not drain, its process's lease holds, and its last exchange was answered. For a
    /// readiness probe.
    pub is_ready: bool,
    /// How long ago the last heartbeat that the database answered began. The lease counts from that moment.
    pub heartbeat_age: Duration,
    /// How long ago the last exchange was answered; `None` before the first. A worker whose slots are all taken makes no exchange until a
    /// handler ends; a worker that finds nothing makes none until the poll interval has passed.
    pub exchange_age: Option<Duration>,
}

impl WorkerHealth {
    /// The health of two workers together: alive and ready when both are, with the greater of their ages.
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

/// The parts of a running worker from which its health is read.
pub(super) struct Vitals {
    pub(super) heartbeat: Arc<Heartbeat>,
    pub(super) last_exchange: Arc<LastExchange>,
}

impl Vitals {
    /// The worker's health, given whether the worker has not ended (`is_alive`) and whether it drains (`is_draining`).
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
