//! The signals that ask a program to end.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::WorkerError;

/// SIGTERM and SIGINT.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(crate) fn new() -> Result<Self, WorkerError> {
        let watch = |kind| signal(kind).map_err(WorkerError::Signals);
        Ok(Self { terminate: watch(SignalKind::terminate())?, interrupt: watch(SignalKind::interrupt())? })
    }

    /// Waits until SIGTERM or SIGINT arrives.
    pub(crate) async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
