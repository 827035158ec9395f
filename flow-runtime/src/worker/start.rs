//! A worker's start: schema, deployment, registration, then its tasks.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use sqlx::PgConnection;
use tokio::{
    runtime::Handle,
    sync::{Mutex, Notify, mpsc, watch},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Instrument;

use super::{
    RunningWorker, Worker, hand_over,
    health::{LastExchange, Vitals},
    held::Held,
    log, panic,
    process::{Membership, Process},
    pump::Pump,
};
use crate::{
    config::WorkerConfig,
    database::{Link, Subscription, Topic, deadline, in_time},
    db::Db,
    deploy::{self, Deployment},
    error::{DeployError, WorkerError},
    fault,
    registry::Registered,
    store::{self, Settlement, WorkId},
};

/// How long a drain may take beyond the grace before `shutdown` says that it is not done.
const SHUTDOWN_MARGIN: Duration = Duration::from_secs(10);

/// What the tasks of one worker share.
pub(super) struct Shared {
    pub(super) db: Db,
    pub(super) flow: Registered,
    pub(super) worker_id: i64,
    pub(super) process: Arc<Process>,
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
    results: mpsc::UnboundedSender<Settlement>,
    notices: mpsc::UnboundedSender<Notice>,
}

/// What the heartbeat has found about a worker, to be logged by the worker.
pub(super) enum Notice {
    /// Work that it does not hold any more, each with why.
    Lost(Vec<(WorkId, String)>),
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
}

/// Deploys, registers and sets to work.
pub(super) async fn start(worker: Worker) -> Result<RunningWorker, WorkerError> {
    worker.db.refuse_shared_processes().await.map_err(DeployError::from)?;
    if worker.db.is_managed() {
        worker.db.ready(None).await.map_err(DeployError::from)?;
    } else {
        worker.db.migrate().await.map_err(DeployError::from)?;
    }
    let mut link = Link::new(worker.db.clone());
    let connection = link.get().await?;
    // Before the deployment: a program that was taken out of service must not bring its shape of the flow back.
    in_time(deadline::READ, store::refuse_disabled(connection, worker.name())).await?;
    deploy(connection, &worker).await?;
    if fault::is_cut("deploying") {
        link.lose();
    }
    // A worker that could not renew would lose what it claims: the process and its heartbeat come before its registration.
    let mut membership = worker.db.process().join(&worker.db, worker.config.lease).await?;
    let process = Arc::clone(membership.process());
    let worker_id = super::random_id();
    let queue_id = register(link.get().await?, &worker, worker_id, process.id()).await?;
    tracing::info!(worker_id, queue = worker.queue, name = worker.name(), flow = worker.flow.slug(), "worker started");
    panic::remember_places();

    let (results, received) = mpsc::unbounded_channel();
    let (notices, noticed) = mpsc::unbounded_channel();
    let wake = Arc::new(Notify::new());
    let stop = CancellationToken::new();
    let span = tracing::info_span!("worker", queue = worker.queue, worker_id, name = worker.config.name);
    let shared = Arc::new(Shared {
        worker_id,
        process,
        first_steps: hand_over::first_steps(&worker.flow.definition, &worker.steps),
        runtime: Handle::current(),
        span: span.clone(),
        config: worker.config,
        held: Held::default(),
        last_exchange: Arc::default(),
        handlers: TaskTracker::new(),
        stop: stop.clone(),
        wake: Arc::clone(&wake),
        results,
        notices,
        flow: worker.flow,
        db: worker.db,
    });
    let hub = shared.db.hub();
    let queue = hub.subscribe(Topic::Queue(queue_id), wake);
    let own = hub.subscribe(Topic::Worker(worker_id), shared.process.waker());
    membership.enter(Arc::clone(&shared));
    let vitals = Vitals { process: Arc::clone(&shared.process), last_exchange: Arc::clone(&shared.last_exchange) };
    let shutdown_limit = shared.config.grace + SHUTDOWN_MARGIN;
    let (ended, has_ended) = watch::channel(false);
    let result = Arc::new(Mutex::new(None));
    tokio::spawn(tell(Arc::downgrade(&shared), noticed).instrument(span.clone()));
    tokio::spawn(work(shared, link, received, [queue, own], membership, Arc::clone(&result), ended).instrument(span));
    Ok(RunningWorker { worker_id, stop, ended: has_ended, result, shutdown_limit, vitals })
}

/// Logs what the heartbeat has found, within the worker's span.
async fn tell(shared: Weak<Shared>, mut notices: mpsc::UnboundedReceiver<Notice>) {
    while let Some(notice) = notices.recv().await {
        let Some(shared) = shared.upgrade() else { return };
        match notice {
            Notice::Lost(lost) => log::work_lost(&shared, &lost),
            Notice::Queues { unserved, stranded } => shared.db.lookout().report(shared.flow.slug(), unserved, stranded),
        }
    }
}

/// The worker's life: the main loop. Should it break off, the worker leaves its process all the same.
async fn work(
    shared: Arc<Shared>,
    link: Link,
    results: mpsc::UnboundedReceiver<Settlement>,
    calls: [Subscription; 2],
    membership: Membership,
    result: Arc<Mutex<Option<Result<(), WorkerError>>>>,
    ended: watch::Sender<bool>,
) {
    let process = Arc::clone(&shared.process);
    let worked = Pump::new(shared, link, results).run().await;
    drop(calls);
    drop(membership);
    process.left().await;
    if let Err(error) = &worked {
        tracing::error!(error = %error, "worker stopped");
    }
    *result.lock().await = Some(worked);
    let _ = ended.send(true);
}

async fn deploy(connection: &mut PgConnection, worker: &Worker) -> Result<(), DeployError> {
    let deployment = Deployment {
        definition: &worker.flow.definition,
        version: worker.flow.version,
        on_drift: worker.config.on_drift,
        on_options: worker.config.on_options,
        makes_queues: true,
        drain_wait: worker.config.drain_wait,
    };
    deploy::deploy(connection, &deployment).await
}

async fn register(
    connection: &mut PgConnection,
    worker: &Worker,
    worker_id: i64,
    process_id: i64,
) -> Result<i32, DeployError> {
    let index = |step: &usize| i32::try_from(*step).unwrap_or(i32::MAX);
    let steps: Vec<i32> = worker.steps.iter().map(index).collect();
    let takes_input = |step: &&usize| worker.flow.handlers.takes_input(**step);
    let input_steps: Vec<i32> = worker.steps.iter().filter(takes_input).map(index).collect();
    let new = store::NewWorker {
        worker_id,
        process_id,
        name: worker.name(),
        shape: &worker.flow.definition.shape,
        queue: &worker.queue,
        steps: &steps,
        input_steps: &input_steps,
    };
    in_time(deadline::DEPLOY, store::register_worker(connection, &new)).await
}
