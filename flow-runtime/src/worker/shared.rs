//! What the tasks of one worker share.

use std::sync::Arc;

use tokio::{
    runtime::Handle,
    sync::{Notify, mpsc},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    database::{
        db::Db,
        store::{Settlement, WhyLost, WorkId},
    },
    handler::registry::Registered,
    worker::{config::WorkerConfig, health::LastExchange, heartbeat::Heartbeat, held::Held},
};

/// What the tasks of one worker share.
pub(super) struct Shared {
    pub(super) db: Db,
    pub(super) flow: Registered,
    pub(super) worker_id: i64,
    pub(super) heartbeat: Arc<Heartbeat>,
    pub(super) config: WorkerConfig,
    /// How many of its steps begin with their run.
    pub(super) first_steps: usize,
    /// Where its handlers run, whoever hands work over.
    pub(super) runtime: Handle,
    pub(super) span: tracing::Span,
    pub(super) held: Held,
    pub(super) last_exchange: Arc<LastExchange>,
    /// The handlers at work.
    pub(super) handlers: TaskTracker,
    /// Cancelled when the worker is to drain.
    pub(super) stop: CancellationToken,
    /// Wakes the main loop: a claim may find something now.
    pub(super) wake: Arc<Notify>,
    pub(super) results: mpsc::UnboundedSender<Settlement>,
    pub(super) notices: mpsc::UnboundedSender<Notice>,
}

/// What the heartbeat has found about a worker, to be logged by the worker.
pub(super) enum Notice {
    /// Work that it does not hold any more, each with why.
    Lost(Vec<(WorkId, WhyLost)>),
    /// Queues of its flow that need somebody.
    Queues {
        /// They have work and no worker.
        unserved: Vec<String>,
        /// They have work that nobody would take up.
        stranded: Vec<String>,
    },
}

impl Shared {
    /// Hands the outcome of one attempt to the main loop.
    pub(super) fn finish(&self, settlement: Settlement) {
        self.held.has_result(settlement.id);
        // The receiver is gone only when the worker has given up its tasks.
        let _ = self.results.send(settlement);
    }

    /// Hands what the heartbeat has found to the worker's log.
    pub(super) fn notice(&self, notice: Notice) {
        // The receiver is gone only when the worker is.
        let _ = self.notices.send(notice);
    }

    pub(super) fn free_slots(&self) -> usize {
        self.concurrency().saturating_sub(self.held.slots().taken())
    }

    pub(super) fn concurrency(&self) -> usize {
        self.config.concurrency.unwrap_or(1)
    }

    /// A step's slug, for the log.
    pub(super) fn step_slug(&self, step: i32) -> &str {
        usize::try_from(step).ok().and_then(|step| self.flow.slugs.get(step)).map_or("?", |slug| slug)
    }
}
