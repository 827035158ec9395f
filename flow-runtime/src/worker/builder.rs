//! A worker before its start: its flow, its queue and its options.

use std::{sync::Arc, time::Duration};

use flow_core::{definition::QueueMode, flow::Flow, queue_name::QueueName, step::StepEnum};

use crate::{
    database::{
        db::Db,
        deploy::{OnDrift, OnOptions},
    },
    error::BuildError,
    handler::{Handlers, json::JsonFlow, registry::Registered, step_queues::StepQueued},
    worker::config::WorkerConfig,
};

/// Runs the handlers of a flow: claims tasks of one queue, calls the methods, settles the results.
///
/// ```no_run
/// # use flow_runtime::prelude::*;
/// # async fn example<F: flow_runtime::Handlers>(my_flow: F) -> Result<(), Box<dyn std::error::Error>> {
/// let db = Db::new("postgres://localhost/app")?;
/// Worker::builder(&db).flow(my_flow).concurrency(20).build()?.run().await?; // until SIGTERM or SIGINT
/// # Ok(())
/// # }
/// ```
pub struct Worker {
    pub(super) db: Db,
    pub(super) flow: Registered,
    /// The indexes of the steps that the worker serves.
    pub(super) steps: Vec<usize>,
    pub(super) queue: String,
    pub(super) config: WorkerConfig,
}

/// A worker without a flow yet.
#[derive(Debug)]
pub struct NewWorker {
    db: Db,
}

/// A worker with its flow, and the options that can still be set.
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
/// let worker = Worker::builder(&db)
///     .flow(Greet)
///     .concurrency(20)
///     .lease(std::time::Duration::from_secs(60))
///     .build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct WorkerBuilder {
    worker: Worker,
}

impl Worker {
    /// Begins a worker on a database.
    pub fn builder(db: &Db) -> NewWorker {
        NewWorker { db: db.clone() }
    }

    pub(crate) fn slug(&self) -> &str {
        self.flow.slug()
    }

    /// The name under which the worker can be disabled. `build` sets the name where the user has not.
    pub(super) fn name(&self) -> &str {
        self.config.name.as_deref().unwrap_or("worker")
    }

    /// Refuses a worker that would serve no step, or steps that are not all on its queue.
    fn check_steps(&self) -> Result<(), BuildError> {
        let shape = &self.flow.definition.shape;
        let serves_one = self.steps.len() == 1 && self.queue != shape.slug.to_ascii_lowercase();
        match shape.queue_mode {
            _ if self.steps.is_empty() => {
                let known = shape.steps.iter().map(|step| format!("`{}`", step.slug)).collect::<Vec<_>>().join(", ");
                Err(BuildError::Steps(format!(
                    "flow `{}` has no step `{}`; its steps are {known}",
                    shape.slug, self.queue
                )))
            }
            QueueMode::StepQueues if !serves_one => Err(BuildError::Steps(format!(
                "each step of flow `{}` has a queue of its own; serve one step a worker, with `json_step(flow, \"{}\")`",
                shape.slug,
                shape.steps.first().map_or("", |step| &step.slug)
            ))),
            QueueMode::Plain if serves_one => Err(BuildError::Steps(format!(
                "flow `{}` has one queue for all steps; serve it with `json(flow)`, or give its graph the queue mode `StepQueues`",
                shape.slug
            ))),
            _ => Ok(()),
        }
    }

    /// Whether `other` runs a flow with the same slug as this worker's flow and another shape.
    pub(crate) fn is_other_flow_with_slug_of(&self, other: &Self) -> bool {
        self.slug().eq_ignore_ascii_case(other.slug()) && self.flow.definition.shape != other.flow.definition.shape
    }
}

impl NewWorker {
    /// The plain flow whose steps this worker runs, all on the flow's own queue. Also takes an `Arc` of a flow.
    pub fn flow<F: Handlers>(self, flow: F) -> WorkerBuilder {
        self.plain(Registered::typed(Arc::new(flow)))
    }

    /// The flow built at run time whose steps this worker runs, all on the flow's own queue.
    pub fn json(self, flow: JsonFlow) -> WorkerBuilder {
        self.plain(Registered::json(flow))
    }

    /// The one step, by its slug, that this worker runs, on that step's queue. The flow is built at run time, and its graph gives each step
    /// a queue of its own. `build` refuses a slug that no step of the flow has.
    pub fn json_step(self, flow: JsonFlow, step: &str) -> WorkerBuilder {
        let flow = Registered::json(flow);
        let shape = &flow.definition.shape;
        let index = shape.steps.iter().position(|known| known.slug == step);
        // A slug that no step has finds no queue. The slug itself stands in for the queue's name, and `build` refuses the worker.
        let queue = index.and_then(|index| QueueName::of_step(&shape.slug, step, index).ok());
        let queue = queue.map_or_else(|| step.to_owned(), |name| name.to_string());
        self.worker(flow, index.into_iter().collect(), queue)
    }

    /// The one step that this worker runs, on that step's queue. The flow has step queues.
    pub fn step<Q: StepQueued>(self, queues: Q, step: <Q::Flow as Flow>::Step) -> WorkerBuilder {
        self.step_of(&queues, step)
    }

    pub(crate) fn step_of<Q: StepQueued>(self, queues: &Q, step: <Q::Flow as Flow>::Step) -> WorkerBuilder {
        let flow = Registered::step_queued(queues);
        self.worker(flow, vec![step.index()], Q::QUEUES[step.index()].to_owned())
    }

    fn plain(self, flow: Registered) -> WorkerBuilder {
        let steps = (0..flow.definition.shape.steps.len()).collect();
        let queue = flow.slug().to_ascii_lowercase();
        self.worker(flow, steps, queue)
    }

    fn worker(self, flow: Registered, steps: Vec<usize>, queue: String) -> WorkerBuilder {
        WorkerBuilder { worker: Worker { db: self.db, flow, steps, queue, config: WorkerConfig::default() } }
    }
}

impl WorkerBuilder {
    /// The name under which the worker can be disabled. Default: the value of the variable `FLOW_WORKER_NAME`, else the program's file
    /// name; then a colon and the queue's name: `shop:shop__ship`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.worker.config.name = Some(name.into());
        self
    }

    /// How many handlers run at once, 1 to 10,000. Default: 100; the number of CPUs when a step that the worker serves is `blocking`.
    #[must_use]
    pub fn concurrency(mut self, slots: usize) -> Self {
        self.worker.config.concurrency = Some(slots);
        self
    }

    /// How many tasks one exchange claims at most, 1 to 1,000. Default: 100.
    #[must_use]
    pub fn batch(mut self, tasks: usize) -> Self {
        self.worker.config.batch = tasks;
        self
    }

    /// The length of the lease: how long the process keeps its work without a heartbeat, 1 s to 1 h. Default: 30 s. The workers of a
    /// process share one lease, the shortest that one of them asks for. The heartbeat renews the lease after a third of its length, at
    /// least every 10 s, whatever the handlers do. The work of a killed process is given to others when the process's lease ends.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.worker.config.lease = lease;
        self
    }

    /// The longest pause between two looks at the queue, 10 ms to 1 h. Default: 1 s. Polling is the net below notifications: new and
    /// recovered work is notified at once, and delayed work (retries, delayed starts) is looked for when it becomes due, as far as the last
    /// look has seen it. In a queue of pgmq delivery, delayed work waits for the next poll.
    #[must_use]
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.worker.config.poll_interval = interval;
        self
    }

    /// How long running handlers may go on after the shutdown has begun, at most 24 h. Default: 30 s.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.worker.config.grace = grace;
        self
    }

    /// How long a deployment with another shape waits for workers of the older shape to stop, in a development database, at most 24 h.
    /// Default: 60 s.
    #[must_use]
    pub fn drain_wait(mut self, wait: Duration) -> Self {
        self.worker.config.drain_wait = wait;
        self
    }

    /// What to do when types changed under an unchanged shape. Default: report.
    #[must_use]
    pub fn on_drift(mut self, on_drift: OnDrift) -> Self {
        self.worker.config.on_drift = on_drift;
        self
    }

    /// What to do with options that differ from those of a newer build of the program. Default: keep the newer build's.
    #[must_use]
    pub fn on_options(mut self, on_options: OnOptions) -> Self {
        self.worker.config.on_options = on_options;
        self
    }

    /// Replaces the worker's options by those of a pool.
    pub(crate) fn with_config(mut self, config: WorkerConfig) -> Self {
        self.worker.config = config;
        self
    }

    /// Gives the worker a name that begins with `prefix`, unless the worker has a name.
    pub(crate) fn with_name_prefix(mut self, prefix: Option<&str>) -> Self {
        if let Some(prefix) = prefix {
            let queue = &self.worker.queue;
            self.worker.config.name.get_or_insert_with(|| format!("{prefix}:{queue}"));
        }
        self
    }

    /// Checks everything that can be checked without a database.
    ///
    /// # Errors
    /// [`BuildError`], naming the option or the rule.
    pub fn build(mut self) -> Result<Worker, BuildError> {
        let worker = &mut self.worker;
        worker.config.check()?;
        worker.check_steps()?;
        worker.flow.definition.validate()?;
        worker.flow.definition.check()?;
        let is_blocking = worker.steps.iter().any(|step| worker.flow.handlers.is_blocking(*step));
        worker.config.concurrency.get_or_insert_with(|| if is_blocking { cpus() } else { 100 });
        let queue = &worker.queue;
        worker.config.name.get_or_insert_with(|| format!("{}:{queue}", program()));
        if worker.name().is_empty() {
            return Err(BuildError::Option {
                option: "name",
                value: "empty".to_owned(),
                expected: "a text that names the worker",
            });
        }
        Ok(self.worker)
    }
}

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The beginning of a default name: the value of `FLOW_WORKER_NAME`, else the program's file name.
fn program() -> String {
    if let Some(name) = std::env::var("FLOW_WORKER_NAME").ok().filter(|name| !name.is_empty()) {
        return name;
    }
    let path = std::env::current_exe().unwrap_or_default();
    path.file_stem().map_or_else(|| "worker".to_owned(), |name| name.to_string_lossy().into_owned())
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").field("flow", &self.flow.slug()).field("queue", &self.queue).finish_non_exhaustive()
    }
}
