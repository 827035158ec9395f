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
    /// How many of the steps that the worker serves begin with their run.
    pub(super) first_steps: usize,
    /// The runtime in which the worker's handlers run. A start that hands work over may come from another runtime.
    pub(super) runtime: Handle,
    pub(super) span: tracing::Span,
    pub(super) held: Held,
    pub(super) last_exchange: Arc<LastExchange>,
    /// The tasks of the running handlers.
    pub(super) handlers: TaskTracker,
    /// Cancelled when the worker is to drain.
    pub(super) stop: CancellationToken,
    /// Wakes the main loop, because a claim may find work now.
    pub(super) wake: Arc<Notify>,
    pub(super) results: mpsc::UnboundedSender<Settlement>,
    pub(super) notices: mpsc::UnboundedSender<Notice>,
}

/// What the heartbeat has found about a worker, to be logged by the worker.
pub(super) enum Notice {
    /// Work that the worker does not hold any more, each piece with the reason.
    Lost(Vec<(WorkId, WhyLost)>),
    /// Queues of the worker's flow that need attention.
    Queues {
        /// Queues that have work and no worker.
        unserved: Vec<String>,
        /// Queues with work that no worker would ever take up.
        stranded: Vec<String>,
    },
}

impl Shared {
    /// Hands the outcome of one attempt to the main loop.
    pub(super) fn finish(&self, settlement: Settlement) {
        self.held.has_result(settlement.id);
        // Sending fails only after the worker's main task has ended; the result is then of no use.
        let _ = self.results.send(settlement);
    }

    /// Hands what the heartbeat has found to the task that logs within the worker's span.
    pub(super) fn notice(&self, notice: Notice) {
        // Sending fails only after the worker has ended; the notice is then of no use.
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
