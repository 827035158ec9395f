//! A worker's start: schema, deployment, registration, then its tasks.

use std::{sync::Arc, time::Duration};

use sqlx::{Connection, PgConnection};
use tokio::{
    sync::{Mutex, Notify, mpsc, watch},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{RunningWorker, Worker, held::Held, pump::Pump, renew};
use crate::{
    config::{OnDrift, WorkerConfig},
    db::Db,
    error::{DbError, DeployError, WorkerError},
    fault,
    notify::{Subscription, Topic},
    registry::Registered,
    store::{self, Deployed, Settlement},
};

/// How long a drain may take beyond the grace before `shutdown` says that it is not done.
const SHUTDOWN_MARGIN: Duration = Duration::from_secs(10);

/// What the tasks of one worker share.
pub(super) struct Shared {
    pub(super) db: Db,
    pub(super) flow: Registered,
    pub(super) worker_id: i64,
    pub(super) config: WorkerConfig,
    pub(super) held: Held,
    /// The handlers at work.
    pub(super) handlers: TaskTracker,
    /// Cancelled when the worker is to drain.
    pub(super) stop: CancellationToken,
    /// Wakes the main loop: a claim may find something now.
    pub(super) wake: Arc<Notify>,
    results: mpsc::UnboundedSender<Settlement>,
}

impl Shared {
    /// Hands the outcome of one attempt to the main loop.
    pub(super) fn finish(&self, settlement: Settlement) {
        // The receiver is gone only when the worker has given up its tasks.
        let _ = self.results.send(settlement);
    }

    pub(super) fn free_slots(&self) -> usize {
        self.config.concurrency.unwrap_or(1).saturating_sub(self.held.running())
    }
}

/// Deploys, registers and sets to work.
pub(super) async fn start(worker: Worker) -> Result<RunningWorker, WorkerError> {
    if worker.db.is_managed() {
        worker.db.ready(None).await.map_err(DeployError::from)?;
    } else {
        worker.db.migrate().await.map_err(DeployError::from)?;
    }
    let mut connection = worker.db.connect().await?;
    // Before the deployment: a program that was taken out of service must not bring its shape of the flow back.
    store::refuse_disabled(&mut connection, worker.name()).await?;
    deploy(&mut connection, &worker).await?;
    if fault::is_cut("deploying") {
        connection = worker.db.connect().await?;
    }
    let (worker_id, queue_id) = register(&mut connection, &worker).await?;
    tracing::info!(worker_id, queue = worker.queue, flow = worker.flow.slug(), "worker started");

    let (results, received) = mpsc::unbounded_channel();
    let wake = Arc::new(Notify::new());
    let stop = CancellationToken::new();
    let shared = Arc::new(Shared {
        worker_id,
        config: worker.config,
        held: Held::default(),
        handlers: TaskTracker::new(),
        stop: stop.clone(),
        wake: Arc::clone(&wake),
        results,
        flow: worker.flow,
        db: worker.db,
    });
    let hub = shared.db.hub();
    let queue = hub.subscribe(Topic::Queue(queue_id), wake);
    let own = hub.subscribe(Topic::Worker(worker_id), Arc::new(Notify::new()));
    let shutdown_limit = shared.config.grace + SHUTDOWN_MARGIN;
    let (ended, has_ended) = watch::channel(false);
    let result = Arc::new(Mutex::new(None));
    tokio::spawn(work(shared, connection, received, queue, own, Arc::clone(&result), ended));
    Ok(RunningWorker { worker_id, stop, ended: has_ended, result, shutdown_limit })
}

/// The worker's life: the main loop and the renewal of leases beside it.
async fn work(
    shared: Arc<Shared>,
    connection: PgConnection,
    results: mpsc::UnboundedReceiver<Settlement>,
    queue: Subscription,
    own: Subscription,
    result: Arc<Mutex<Option<Result<(), WorkerError>>>>,
    ended: watch::Sender<bool>,
) {
    let all_settled = CancellationToken::new();
    // Should the main loop break off, nobody must keep its leases alive.
    let _stops_renewal = all_settled.clone().drop_guard();
    let renewal = tokio::spawn(renew::renew_until(Arc::clone(&shared), own, all_settled.clone()));
    let worked = Pump::new(shared, connection, results).run().await;
    all_settled.cancel();
    let _ = renewal.await;
    drop(queue);
    if let Err(error) = &worked {
        tracing::error!(error = %error, "worker stopped");
    }
    *result.lock().await = Some(worked);
    let _ = ended.send(true);
}

/// Has the flow created or verified. In a development database a changed shape waits for older workers to stop.
async fn deploy(connection: &mut PgConnection, worker: &Worker) -> Result<(), DeployError> {
    let definition = &worker.flow.definition;
    let slug = worker.flow.slug();
    let on_drift = match worker.config.on_drift {
        OnDrift::Report => "report",
        OnDrift::Refuse => "refuse",
    };
    let mut deployed = store::deploy(connection, definition, on_drift).await?;
    if deployed.result == "draining" {
        tracing::warn!(flow = slug, "the flow has another shape now; waiting for its older workers to stop");
        let until = Instant::now() + worker.config.drain_wait;
        while deployed.result == "draining" && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(200)).await;
            deployed = store::deploy(connection, definition, on_drift).await?;
        }
    }
    match deployed.result.as_str() {
        "mismatch" => Err(DeployError::Mismatch { slug: slug.to_owned(), differences: deployed.differences }),
        "draining" => {
            store::withdraw_drain(connection, slug).await?;
            let workers = deployed.workers.iter().map(|worker| format!("{} ({})", worker.worker_id, worker.name));
            Err(DeployError::StillAlive { slug: slug.to_owned(), workers: workers.collect() })
        }
        _ => {
            log_deployed(slug, &deployed);
            Ok(())
        }
    }
}

fn log_deployed(slug: &str, deployed: &Deployed) {
    let result = deployed.result.as_str();
    if result == "recreated" {
        tracing::warn!(flow = slug, differences = deployed.differences.join("; "), "flow made anew; its runs are gone");
    } else {
        tracing::info!(flow = slug, result, "flow deployed");
    }
    if let Some(other) = &deployed.lookalike {
        tracing::warn!("flow `{slug}` has the shape of the deployed flow `{other}`; was `{other}` renamed?");
    }
    for change in &deployed.options {
        tracing::info!(
            flow = slug, step = change.step, option = change.option, old = %change.old, new = %change.new,
            "option changed"
        );
    }
    if let Some(drift) = &deployed.drift {
        tracing::warn!(flow = slug, paths = %drift, "types changed under an unchanged shape");
    }
}

async fn register(connection: &mut PgConnection, worker: &Worker) -> Result<(i64, i32), DeployError> {
    let index = |step: &usize| i32::try_from(*step).unwrap_or(i32::MAX);
    let steps: Vec<i32> = worker.steps.iter().map(index).collect();
    let takes_input = |step: &&usize| worker.flow.handlers.takes_input(**step);
    let input_steps: Vec<i32> = worker.steps.iter().filter(takes_input).map(index).collect();
    let new = store::NewWorker {
        name: worker.name(),
        shape: &worker.flow.definition.shape,
        queue: &worker.queue,
        steps: &steps,
        input_steps: &input_steps,
    };
    store::register_worker(connection, &new).await
}

/// A connection that is made again when it was lost.
pub(super) struct Link {
    db: Db,
    connection: Option<PgConnection>,
    /// The server's process behind the connection in use, or behind the one that was lost last.
    backend: Option<store::Backend>,
}

impl Link {
    pub(super) fn new(db: Db, connection: Option<PgConnection>) -> Self {
        Self { db, connection, backend: None }
    }

    /// The connection; a new one in place of a lost one. What the lost one may still be doing has ended by then, committed or
    /// not.
    pub(super) async fn get(&mut self) -> Result<&mut PgConnection, DbError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let mut connection = self.db.connect().await?;
                if let Some(backend) = self.backend.take() {
                    store::end_backend(&mut connection, &backend).await?;
                }
                connection
            }
        };
        if self.backend.is_none() {
            self.backend = Some(store::backend(&mut connection).await?);
        }
        Ok(self.connection.insert(connection))
    }

    /// Forgets a connection that may be broken.
    pub(super) fn lose(&mut self) {
        self.connection = None;
    }

    pub(super) async fn close(&mut self) {
        if let Some(connection) = self.connection.take() {
            let _ = connection.close().await;
        }
    }
}
