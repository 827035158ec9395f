//! A worker's end: it claims no more, gives back what has not begun, waits for running handlers, settles, and marks itself stopped.

use std::{collections::HashSet, sync::Arc, time::Duration};

use sqlx::PgConnection;
use tokio::time::Instant;

use crate::{
    database::{
        deadline,
        link::Retry,
        notify::Hub,
        store::{self, WorkId},
    },
    error::{DbError, WorkerError},
    worker::exchange_loop::ExchangeLoop,
};

/// How long the drain waits for aborted handlers to be dropped before it gives their tasks back.
const ABORT_WAIT: Duration = Duration::from_secs(1);

/// How long a worker that drains waits for the replies of starts that hand over to it.
const START_WAIT: Duration = Duration::from_secs(1);

impl ExchangeLoop {
    /// Brings everything this worker holds to an end and marks it stopped.
    pub(super) async fn drain(mut self) -> Result<(), WorkerError> {
        if self.is_cut_off() {
            self.shared.held.end_starts(Duration::ZERO).await;
            self.shared.held.abort_all();
            return self.fatal.map_or(Ok(()), Err);
        }
        let grace = if self.may_settle() { self.shared.config.grace } else { Duration::ZERO };
        let grace_ends = Instant::now() + grace;
        // Work that starts hand over until then is held as not begun. It is given back below, or by the heartbeat where the start was given
        // up.
        self.shared.held.end_starts(START_WAIT.min(grace)).await;
        // The last reply was lost: the exchange is sent again, and the work that it hands out is held as not begun and given back below.
        if self.shared.held.is_outstanding() {
            self.settle_all(Some(grace_ends)).await;
        }
        let not_begun = self.shared.held.withdraw_not_begun();
        self.release(not_begun, Some(grace_ends)).await;

        while self.shared.held.running() > 0 && self.may_settle() && Instant::now() < grace_ends {
            self.receive_until(grace_ends).await;
            self.settle_all(Some(grace_ends)).await;
        }
        self.shared.held.abort_all();
        self.shared.handlers.close();
        let _ = tokio::time::timeout(ABORT_WAIT, self.shared.handlers.wait()).await;
        self.receive_until(Instant::now()).await;
        self.settle_all(None).await;

        let left = self.shared.held.ids();
        self.release(left, None).await;
        self.goodbye().await;
        self.link.close().await;
        tracing::info!(worker_id = self.shared.worker_id, "worker stopped");
        self.fatal.map_or(Ok(()), Err)
    }

    /// Exchanges until every result is settled and no reply is outstanding, or until `until`.
    async fn settle_all(&mut self, until: Option<Instant>) {
        while (self.has_results() || self.shared.held.is_outstanding()) && self.may_settle() && !is_past(until) {
            self.exchange(0).await;
        }
    }

    /// Gives those of `tasks` back that have no result. Tries again until the database has answered, or until `until`.
    async fn release(&mut self, tasks: Vec<WorkId>, until: Option<Instant>) {
        let settled: HashSet<WorkId> = self.results().map(|settlement| settlement.id).collect();
        let tasks: Vec<WorkId> = tasks.into_iter().filter(|id| !settled.contains(id)).collect();
        while !self.is_cut_off() && !is_past(until) {
            let worker_id = self.shared.worker_id;
            let hub = Arc::clone(self.shared.db.hub());
            let release = async |connection: &mut PgConnection| {
                hub.tell(store::release_work(connection, worker_id, &tasks).await?);
                Ok(())
            };
            let released = self.link.call(deadline::RELEASE, release).await;
            if self.is_done(released).await {
                for id in &tasks {
                    self.shared.held.remove(*id);
                }
                return;
            }
        }
    }

    /// Marks the worker stopped, and gives back what its hand still lists.
    async fn goodbye(&mut self) {
        let (worker_id, hub) = (self.shared.worker_id, Arc::clone(self.shared.db.hub()));
        while !self.is_cut_off() {
            let stop = async |connection: &mut PgConnection| stop(connection, worker_id, &hub).await;
            let stopped = self.link.call(deadline::RELEASE, stop).await;
            if self.is_done(stopped).await {
                break;
            }
        }
        // The program may end right after this worker, so what other programs are to be told must be sent before.
        hub.finish_telling().await;
    }

    /// Whether a call needs no further try, because it succeeded or would fail again. After an error that may pass, waits and returns
    /// false.
    async fn is_done(&mut self, called: Result<(), DbError>) -> bool {
        match called {
            Ok(()) => {
                self.backoff.reset();
                true
            }
            Err(error) => match self.link.after(&error) {
                Retry::Later { .. } => {
                    tokio::time::sleep(self.backoff.next_pause()).await;
                    false
                }
                Retry::Never => {
                    self.fail(error.into());
                    true
                }
            },
        }
    }

    /// Whether the database takes nothing from this worker any more: it does not know the worker, or refuses the program's interface.
    fn is_cut_off(&self) -> bool {
        matches!(self.fatal, Some(WorkerError::Gone(_) | WorkerError::UpgradeNeeded(_)))
    }

    /// Whether the worker may still settle. After the database has refused a call for good, it only gives work back.
    fn may_settle(&self) -> bool {
        !self.is_cut_off() && !matches!(self.fatal, Some(WorkerError::Db(_)))
    }
}

async fn stop(connection: &mut PgConnection, worker_id: i64, hub: &Hub) -> Result<(), DbError> {
    for row in store::stop_worker(connection, worker_id).await? {
        hub.tell(store::recover_hand(connection, (worker_id, row)).await?);
    }
    Ok(())
}

fn is_past(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}
