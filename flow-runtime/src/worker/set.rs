//! Several workers in one process, with one shutdown.

use std::{sync::Arc, time::Duration};

use flow_core::{flow::Flow, step::StepEnum};
use tokio::task::JoinSet;

use crate::{
    database::{
        db::Db,
        deploy::{OnDrift, OnOptions},
    },
    error::{BuildError, WorkerError},
    handler::step_queues::StepQueued,
    worker::{
        builder::{Worker, WorkerBuilder},
        config::WorkerConfig,
        health::WorkerHealth,
        running::RunningWorker,
        signals::Signals,
    },
};

/// Several workers in one process: they share the pool of connections, the listening connection, the process's lease, and one shutdown.
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
/// let set = WorkerSet::builder(&db).worker(Worker::builder(&db).flow(Greet)).build()?;
/// set.run().await?; // until SIGTERM or SIGINT
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct WorkerSet {
    workers: Vec<Worker>,
}

/// A set of workers that can still be added to.
#[derive(Debug)]
pub struct WorkerSetBuilder {
    db: Db,
    workers: Vec<WorkerBuilder>,
    name_prefix: Option<String>,
}

/// How one step runs in this process: how many handlers at once, and the options of the step's worker; or that this process does not run
/// the step.
///
/// ```
/// use flow_runtime::Pool;
/// use std::time::Duration;
///
/// let pool = Pool::slots(4).lease(Duration::from_secs(60));
/// let not_here = Pool::none();
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Pool {
    config: Option<WorkerConfig>,
}

impl Pool {
    /// A pool of this many slots, 1 to 10,000.
    pub fn slots(slots: usize) -> Self {
        Self { config: Some(WorkerConfig { concurrency: Some(slots), ..WorkerConfig::default() }) }
    }

    /// No pool: this process does not run the step.
    pub fn none() -> Self {
        Self { config: None }
    }

    /// See [`WorkerBuilder::name`].
    pub fn name(self, name: impl Into<String>) -> Self {
        let name = Some(name.into());
        self.with(|config| config.name = name)
    }

    /// See [`WorkerBuilder::batch`].
    pub fn batch(self, tasks: usize) -> Self {
        self.with(|config| config.batch = tasks)
    }

    /// See [`WorkerBuilder::lease`].
    pub fn lease(self, lease: Duration) -> Self {
        self.with(|config| config.lease = lease)
    }

    /// See [`WorkerBuilder::poll_interval`].
    pub fn poll_interval(self, interval: Duration) -> Self {
        self.with(|config| config.poll_interval = interval)
    }

    /// See [`WorkerBuilder::grace`].
    pub fn grace(self, grace: Duration) -> Self {
        self.with(|config| config.grace = grace)
    }

    /// See [`WorkerBuilder::drain_wait`].
    pub fn drain_wait(self, wait: Duration) -> Self {
        self.with(|config| config.drain_wait = wait)
    }

    /// See [`WorkerBuilder::on_drift`].
    pub fn on_drift(self, on_drift: OnDrift) -> Self {
        self.with(|config| config.on_drift = on_drift)
    }

    /// See [`WorkerBuilder::on_options`].
    pub fn on_options(self, on_options: OnOptions) -> Self {
        self.with(|config| config.on_options = on_options)
    }

    /// Sets an option. Does nothing for [`Pool::none`].
    fn with(mut self, set: impl FnOnce(&mut WorkerConfig)) -> Self {
        if let Some(config) = &mut self.config {
            set(config);
        }
        self
    }
}

impl WorkerSet {
    /// Begins a set on a database.
    pub fn builder(db: &Db) -> WorkerSetBuilder {
        WorkerSetBuilder { db: db.clone(), workers: Vec::new(), name_prefix: None }
    }

    /// Starts one worker after the other. When a worker is refused, the workers that have started are shut down.
    ///
    /// # Errors
    /// Those of [`Worker::start`].
    pub async fn start(self) -> Result<RunningSet, WorkerError> {
        let mut set = RunningSet { workers: Vec::new() };
        for worker in self.workers {
            match worker.start().await {
                Ok(running) => set.workers.push(Arc::new(running)),
                Err(error) => {
                    // An error of the shutdown is dropped: the error of the start says why the set was refused.
                    let _ = set.shutdown().await;
                    return Err(error);
                }
            }
        }
        Ok(set)
    }

    /// Starts, works until SIGTERM, SIGINT or the first fatal error of a worker, and shuts all of them down.
    ///
    /// # Errors
    /// [`WorkerError::Signals`], and the errors of [`Worker::start`], [`RunningWorker::stopped`] and [`RunningWorker::shutdown`].
    pub async fn run(self) -> Result<(), WorkerError> {
        let mut signals = Signals::new()?;
        let set = self.start().await?;
        tokio::select! {
            () = signals.received() => {
                tracing::info!("signal received; draining");
                set.shutdown().await
            }
            stopped = set.stopped() => {
                let drained = set.shutdown().await;
                stopped.and(drained)
            }
        }
    }
}

impl WorkerSetBuilder {
    /// Adds a worker with options of its own.
    #[must_use]
    pub fn worker(mut self, worker: WorkerBuilder) -> Self {
        self.workers.push(worker);
        self
    }

    /// The beginning of the workers' names, in place of the program's name: `shop-42` gives `shop-42:shop__ship`. A worker with a name of
    /// its own keeps that name.
    #[must_use]
    pub fn name_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.name_prefix = Some(prefix.into());
        self
    }

    /// Adds one worker for each step of a flow with step queues, except steps with [`Pool::none`]. `pool` gives the slots and options of
    /// each step; with a `match` over the step enum in `pool`, a forgotten step is a compile error.
    #[must_use]
    pub fn pools<Q: StepQueued>(mut self, queues: Q, pool: impl Fn(<Q::Flow as Flow>::Step) -> Pool) -> Self {
        for step in <<Q::Flow as Flow>::Step as StepEnum>::ALL {
            if let Some(config) = pool(*step).config {
                self.workers.push(Worker::builder(&self.db).step_of(&queues, *step).with_config(config));
            }
        }
        self
    }

    /// Checks everything that can be checked without a database.
    ///
    /// # Errors
    /// [`BuildError`]; also when two different flows of the set have one slug.
    pub fn build(self) -> Result<WorkerSet, BuildError> {
        let prefix = self.name_prefix.as_deref();
        let named = self.workers.into_iter().map(|worker| worker.with_name_prefix(prefix));
        let workers = named.map(WorkerBuilder::build).collect::<Result<Vec<_>, _>>()?;
        for (at, worker) in workers.iter().enumerate() {
            if workers[..at].iter().any(|earlier| earlier.is_other_flow_with_slug_of(worker)) {
                return Err(BuildError::SameSlug(worker.slug().to_owned()));
            }
        }
        Ok(WorkerSet { workers })
    }
}

/// A set of workers at work. Dropping it begins its shutdown.
#[derive(Debug)]
pub struct RunningSet {
    workers: Vec<Arc<RunningWorker>>,
}

impl RunningSet {
    /// The workers, in the order in which they were added.
    pub fn workers(&self) -> impl Iterator<Item = &RunningWorker> {
        self.workers.iter().map(|worker| &**worker)
    }

    /// The health of all workers together: alive and ready when all of them are, with the greatest ages. `None` for a set without workers.
    pub fn health(&self) -> Option<WorkerHealth> {
        self.workers().map(RunningWorker::health).reduce(WorkerHealth::join)
    }

    /// Waits until every worker has stopped, or until one worker has stopped with an error.
    ///
    /// # Errors
    /// The first error of a worker.
    pub async fn stopped(&self) -> Result<(), WorkerError> {
        let mut waiting = JoinSet::new();
        for worker in &self.workers {
            let worker = Arc::clone(worker);
            waiting.spawn(async move { worker.stopped().await });
        }
        while let Some(stopped) = waiting.join_next().await {
            stopped.unwrap_or(Ok(()))?;
        }
        Ok(())
    }

    /// Shuts all workers down at the same time. See [`RunningWorker::shutdown`].
    ///
    /// # Errors
    /// The first error of a worker. The other workers are shut down all the same.
    pub async fn shutdown(&self) -> Result<(), WorkerError> {
        let mut waiting = JoinSet::new();
        for worker in &self.workers {
            let worker = Arc::clone(worker);
            waiting.spawn(async move { worker.shutdown().await });
        }
        let mut result = Ok(());
        while let Some(stopped) = waiting.join_next().await {
            result = result.and(stopped.unwrap_or(Ok(())));
        }
        result
    }
}
