//! A worker at work.

use std::{sync::Arc, time::Duration};

use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    database::id::WorkerId,
    error::WorkerError,
    worker::health::{Vitals, WorkerHealth},
};

/// A worker at work. Dropping it begins its shutdown.
///
/// ```no_run
/// # use flow_runtime::prelude::*;
/// # struct Greet;
/// # #[flow(input = String)]
/// # impl Greet {
/// #     #[step]
/// #     async fn greet(&self, input: String) -> Result<String, StepError> { Ok(input) }
/// # }
/// # async fn example(db: Db) -> Result<(), Box<dyn std::error::Error>> {
/// let worker = Worker::builder(&db).flow(Greet).build()?.start().await?;
/// // … until the program is to end …
/// worker.shutdown().await?;
/// # Ok(())
/// # }
/// ```
pub struct RunningWorker {
    pub(super) worker_id: i64,
    pub(super) stop: CancellationToken,
    pub(super) ended: watch::Receiver<bool>,
    pub(super) result: Arc<Mutex<Option<Result<(), WorkerError>>>>,
    pub(super) shutdown_limit: Duration,
    pub(super) vitals: Vitals,
}

impl RunningWorker {
    /// The worker's id in the database.
    pub fn worker_id(&self) -> WorkerId {
        self.worker_id.into()
    }

    /// The worker's health, without a call of the database: for liveness and readiness probes. docs/operations.md has an example.
    ///
    /// ```no_run
    /// # fn example(worker: &flow_runtime::RunningWorker) -> u16 {
    /// if worker.health().is_ready { 200 } else { 503 }
    /// # }
    /// ```
    pub fn health(&self) -> WorkerHealth {
        let is_alive = !*self.ended.borrow() && self.ended.has_changed().is_ok();
        self.vitals.health(is_alive, self.stop.is_cancelled())
    }

    /// Waits until the worker has stopped, by itself or by a shutdown.
    ///
    /// # Errors
    /// The error that made the worker stop, if any. The error is returned once, to the first caller; later calls return `Ok`.
    /// [`WorkerError::BrokeOff`] when the worker's task has panicked.
    pub async fn stopped(&self) -> Result<(), WorkerError> {
        let mut ended = self.ended.clone();
        // An error here means that the worker's task is gone without having stored a result; the check below then returns `BrokeOff`.
        let _ = ended.wait_for(|ended| *ended).await;
        if !*self.ended.borrow() {
            return Err(WorkerError::BrokeOff);
        }
        self.result.lock().await.take().unwrap_or(Ok(()))
    }

    /// Stops claiming, gives back what has not begun, waits for running handlers up to the grace, then cancels them and
    /// gives their tasks back, settles, and marks the worker stopped. Concurrent calls share one drain.
    ///
    /// # Errors
    /// [`WorkerError::StillDraining`] when the worker has not stopped 10 s after the grace, as when the database does not answer. The drain
    /// goes on, and the next call waits for its end again. Otherwise as [`RunningWorker::stopped`].
    pub async fn shutdown(&self) -> Result<(), WorkerError> {
        self.stop.cancel();
        match tokio::time::timeout(self.shutdown_limit, self.stopped()).await {
            Ok(stopped) => stopped,
            Err(_) => Err(WorkerError::StillDraining),
        }
    }
}

impl Drop for RunningWorker {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl std::fmt::Debug for RunningWorker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningWorker").field("worker_id", &self.worker_id).finish_non_exhaustive()
    }
}
