//! A worker's start: schema, deployment, the process's heartbeat, registration, and the worker's background tasks.

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

use crate::{
    database::{
        deadline::{self, in_time},
        deploy::{self, Deployment},
        link::Link,
        notify::{Subscription, Topic},
        store::{self, Settlement},
    },
    error::{DeployError, WorkerError},
    fault,
    worker::{
        builder::Worker,
        exchange_loop::ExchangeLoop,
        hand_over,
        health::Vitals,
        held::Held,
        log, panic,
        process::{Membership, ProcessSlot},
        random_id::random_id,
        running::RunningWorker,
        shared::{Notice, Shared},
        signals::Signals,
        unserved::UnservedCheck,
    },
};

/// How long a drain may take beyond the grace before `shutdown` returns `StillDraining`.
const SHUTDOWN_MARGIN: Duration = Duration::from_secs(10);

impl Worker {
    /// Deploys the flow, registers the worker and lets it work in the background.
    ///
    /// # Errors
    /// [`WorkerError::Deploy`] when the flow or the worker was refused; that or [`WorkerError::Db`] when the database is out of reach,
    /// where [`WorkerError::is_transient`] is true.
    pub async fn start(self) -> Result<RunningWorker, WorkerError> {
        // The start runs in a task of its own, so that dropping this future cannot leave a worker half started.
        match tokio::spawn(start(self)).await {
            Ok(started) => started,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }

    /// Starts, works until SIGTERM, SIGINT or a fatal error, and shuts down.
    ///
    /// # Errors
    /// [`WorkerError::Signals`], and the errors of [`Worker::start`], [`RunningWorker::stopped`] and [`RunningWorker::shutdown`].
    pub async fn run(self) -> Result<(), WorkerError> {
        let mut signals = Signals::new()?;
        let running = self.start().await?;
        tokio::select! {
            () = signals.received() => {
                tracing::info!("signal received; draining");
                running.shutdown().await
            }
            stopped = running.stopped() => stopped,
        }
    }
}

/// Migrates or checks the schema, deploys the flow, registers the worker and spawns its tasks.
async fn start(worker: Worker) -> Result<RunningWorker, WorkerError> {
    worker.db.connector().refuse_shared_processes().await.map_err(DeployError::from)?;
    if worker.db.is_managed() {
        worker.db.ready(None).await.map_err(DeployError::from)?;
    } else {
        worker.db.migrate().await.map_err(DeployError::from)?;
    }
    let mut link = Link::new(worker.db.connector().clone());
    let connection = link.get().await?;
    // The name is checked before the deployment: a program that was taken out of service must not bring back its shape of the flow.
    in_time(deadline::READ, store::refuse_disabled(connection, worker.name())).await?;
    deploy(connection, &worker).await?;
    if fault::is_cut("deploying") {
        link.lose();
    }
    // The process and its heartbeat come before the registration: a worker whose lease is not renewed would lose what it claims.
    let mut membership = worker.db.companion::<ProcessSlot>().join(&worker.db, worker.config.lease).await?;
    let heartbeat = membership.heartbeat();
    let worker_id = random_id();
    let queue_id = register(link.get().await?, &worker, worker_id, heartbeat.process_id()).await?;
    tracing::info!(worker_id, queue = worker.queue, name = worker.name(), flow = worker.flow.slug(), "worker started");
    panic::remember_places();

    let (results, received) = mpsc::unbounded_channel();
    let (notices, noticed) = mpsc::unbounded_channel();
    let wake = Arc::new(Notify::new());
    let stop = CancellationToken::new();
    let span = tracing::info_span!("worker", queue = worker.queue, worker_id, name = worker.config.name);
    let shared = Arc::new(Shared {
        worker_id,
        heartbeat,
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
    let own = hub.subscribe(Topic::Worker(worker_id), shared.heartbeat.waker());
    membership.enter(Arc::clone(&shared));
    let vitals = Vitals { heartbeat: Arc::clone(&shared.heartbeat), last_exchange: Arc::clone(&shared.last_exchange) };
    let shutdown_limit = shared.config.grace + SHUTDOWN_MARGIN;
    let (ended, has_ended) = watch::channel(false);
    let result = Arc::new(Mutex::new(None));
    tokio::spawn(tell(Arc::downgrade(&shared), noticed).instrument(span.clone()));
    tokio::spawn(work(shared, link, received, [queue, own], membership, Arc::clone(&result), ended).instrument(span));
    Ok(RunningWorker { worker_id, stop, ended: has_ended, result, shutdown_limit, vitals })
}

/// Logs, within the worker's span, what the heartbeat has found about the worker.
async fn tell(shared: Weak<Shared>, mut notices: mpsc::UnboundedReceiver<Notice>) {
    while let Some(notice) = notices.recv().await {
        let Some(shared) = shared.upgrade() else { return };
        match notice {
            Notice::Lost(lost) => log::work_lost(&shared, &lost),
            Notice::Queues { unserved, stranded } => {
                shared.db.companion::<UnservedCheck>().report(shared.flow.slug(), unserved, stranded)
            }
        }
    }
}

/// Runs the main loop and the drain, leaves the process and stores the result. When this task panics, dropping `membership` leaves the
/// process all the same.
async fn work(
    shared: Arc<Shared>,
    link: Link,
    results: mpsc::UnboundedReceiver<Settlement>,
    calls: [Subscription; 2],
    membership: Membership,
    result: Arc<Mutex<Option<Result<(), WorkerError>>>>,
    ended: watch::Sender<bool>,
) {
    let mut exchange_loop = ExchangeLoop::new(shared, link, results);
    exchange_loop.run().await;
    let worked = exchange_loop.drain().await;
    drop(calls);
    membership.leave().await;
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
