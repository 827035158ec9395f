//! The handle of one run: waits for the run's end, asks for its status, reads its steps and cancels it.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use flow_core::{flow::Flow, status::StepStatus, step::StepKey, value::json};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::sync::Notify;

use crate::{
    database::{
        db::Db,
        id::RunId,
        notify::Topic,
        store::{self, RunRow, StepRow},
    },
    error::RunError,
};

/// A waiting handle looks at its run at least this often, in case both the notification and the process's own poll fail.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);

/// Stands for a flow whose types this process does not know. Values are JSON.
#[derive(Debug)]
pub enum Untyped {}

/// One run of flow `F`. Cheap to clone.
///
/// ```no_run
/// # use flow_runtime::prelude::*;
/// # struct Greet;
/// # #[flow(input = String)]
/// # impl Greet {
/// #     #[step]
/// #     async fn greet(&self, input: String) -> Result<String, StepError> { Ok(input) }
/// # }
/// # async fn example(run: RunHandle<Greet>) -> Result<(), Box<dyn std::error::Error>> {
/// println!("{}", run.wait().await?.greet);
/// # Ok(())
/// # }
/// ```
pub struct RunHandle<F> {
    db: Db,
    run_id: RunId,
    flow: PhantomData<fn() -> F>,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunProgress {
    /// The run's status.
    pub status: RunStatus,
    /// Steps that have ended.
    pub steps_done: u64,
    /// All steps of the run.
    pub steps_total: u64,
    /// Tasks that have ended.
    pub tasks_done: u64,
    /// Tasks that are known so far. The tasks of a map are known when the step whose output the map runs over has ended.
    pub tasks_known: u64,
}

pub use flow_core::status::RunStatus;

/// What became of one step. Serialises as `{"completed": output}`, `"skipped"`, `{"failed": text}`, `"cancelled"` or `"pending"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepOutput<T> {
    /// The step completed with this output.
    Completed(T),
    /// The step was skipped.
    Skipped,
    /// The step failed with this error text.
    Failed(String),
    /// The run ended before the step did.
    Cancelled,
    /// The step has not ended yet.
    Pending,
}

impl<F> Clone for RunHandle<F> {
    fn clone(&self) -> Self {
        Self::new(self.db.clone(), self.run_id)
    }
}

impl<F> RunHandle<F> {
    pub(crate) fn new(db: Db, run_id: RunId) -> Self {
        Self { db, run_id, flow: PhantomData }
    }

    /// The run's id.
    pub fn id(&self) -> RunId {
        self.run_id
    }

    /// The run's status and how many of its steps and tasks have ended.
    ///
    /// ```no_run
    /// # use flow_runtime::prelude::*;
    /// # struct Greet;
    /// # #[flow(input = String)]
    /// # impl Greet {
    /// #     #[step]
    /// #     async fn greet(&self, input: String) -> Result<String, StepError> { Ok(input) }
    /// # }
    /// # async fn example(run: RunHandle<Greet>) -> Result<(), Box<dyn std::error::Error>> {
    /// let progress = run.status().await?;
    /// println!("{} of {} steps", progress.steps_done, progress.steps_total);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`RunError::NotFound`], [`RunError::Db`].
    pub async fn status(&self) -> Result<RunProgress, RunError> {
        let row =
            store::run_progress(self.db.pool(), self.run_id.into()).await?.ok_or(RunError::NotFound(self.run_id))?;
        let count = |number: i64| number.unsigned_abs();
        Ok(RunProgress {
            status: row.status.0,
            steps_done: count(row.steps_done),
            steps_total: count(row.steps_total),
            tasks_done: count(row.tasks_done),
            tasks_known: count(row.tasks_known),
        })
    }

    /// Cancels the run, unless the run has ended. Returns the run's status afterwards.
    ///
    /// ```no_run
    /// # use flow_runtime::prelude::*;
    /// # struct Greet;
    /// # #[flow(input = String)]
    /// # impl Greet {
    /// #     #[step]
    /// #     async fn greet(&self, input: String) -> Result<String, StepError> { Ok(input) }
    /// # }
    /// # async fn example(run: RunHandle<Greet>) -> Result<(), Box<dyn std::error::Error>> {
    /// run.cancel().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`RunError::NotFound`], [`RunError::Db`].
    pub async fn cancel(&self) -> Result<RunStatus, RunError> {
        let cancelled = store::cancel_run(self.db.pool(), self.run_id.into()).await?;
        let (status, news) = cancelled.ok_or(RunError::NotFound(self.run_id))?;
        self.db.hub().tell(news);
        Ok(status)
    }

    /// Waits until the run has ended, also through a restart of the database. Returns the run's output as JSON text.
    async fn wait_text(&self) -> Result<String, RunError> {
        let notify = Arc::new(Notify::new());
        let watch = self.db.hub().subscribe(Topic::Run(self.run_id.into()), notify);
        loop {
            match store::get_run(self.db.pool(), self.run_id.into()).await {
                Ok(Some(row)) => {
                    if let Some(ended) = self.ended(row) {
                        return ended;
                    }
                }
                Ok(None) => return Err(RunError::NotFound(self.run_id)),
                // The hub's look at all runs logs that the database is away, and wakes this wait when the run has ended.
                Err(error) if error.is_transient() => {}
                Err(error) => return Err(error.into()),
            }
            let _ = tokio::time::timeout(LOOK_INTERVAL, watch.notified()).await;
        }
    }

    /// How the run has ended; `None` while the run is under way.
    fn ended(&self, row: RunRow) -> Option<Result<String, RunError>> {
        match row.status.0 {
            RunStatus::Started => None,
            RunStatus::Completed => Some(Ok(row.output.unwrap_or_else(|| "{}".to_owned()))),
            RunStatus::Cancelled => Some(Err(RunError::Cancelled(self.run_id))),
            RunStatus::Failed => Some(Err(RunError::Failed {
                run_id: self.run_id,
                step: row.error_step.unwrap_or_default(),
                error: row.error.unwrap_or_default(),
            })),
        }
    }

    async fn step_row(&self, step: &str) -> Result<StepRow, RunError> {
        store::get_step(self.db.pool(), self.run_id.into(), step).await?.ok_or(RunError::NotFound(self.run_id))
    }

    fn step_output<T: DeserializeOwned>(&self, step: &str, row: StepRow) -> Result<StepOutput<T>, RunError> {
        let Some(status) = row.status else {
            return Err(RunError::NoStep { flow: row.flow, step: step.to_owned() });
        };
        Ok(match status.0 {
            StepStatus::Completed => StepOutput::Completed(self.decode(row.output.as_deref().unwrap_or("null"))?),
            StepStatus::Skipped => StepOutput::Skipped,
            StepStatus::Failed => StepOutput::Failed(row.error.unwrap_or_default()),
            StepStatus::Cancelled => StepOutput::Cancelled,
            StepStatus::Created | StepStatus::Started => StepOutput::Pending,
        })
    }

    fn decode<T: DeserializeOwned>(&self, text: &str) -> Result<T, RunError> {
        json::decode(text).map_err(|reason| RunError::Decode { run_id: self.run_id, reason })
    }
}

impl<F: Flow> RunHandle<F> {
    /// Waits until the run has ended, and returns the outputs of its leaf steps.
    ///
    /// # Errors
    /// [`RunError::Failed`] with the step and its error text, [`RunError::Cancelled`], [`RunError::NotFound`], [`RunError::Decode`], and
    /// [`RunError::Db`] for an error that waiting cannot help. While the database is away the wait goes on.
    pub async fn wait(&self) -> Result<F::Output, RunError> {
        self.decode(&self.wait_text().await?)
    }

    /// Reads what became of one step, as in `run.step(FulfilOrder::SHIP)`.
    ///
    /// ```no_run
    /// # use flow_runtime::prelude::*;
    /// # struct Greet;
    /// # #[flow(input = String)]
    /// # impl Greet {
    /// #     #[step]
    /// #     async fn greet(&self, input: String) -> Result<String, StepError> { Ok(input) }
    /// # }
    /// # async fn example(run: RunHandle<Greet>) -> Result<(), Box<dyn std::error::Error>> {
    /// if let StepOutput::Completed(text) = run.step(Greet::GREET).await? {
    ///     println!("{text}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`RunError::NotFound`], [`RunError::Decode`], [`RunError::Db`].
    pub async fn step<T: DeserializeOwned>(&self, key: StepKey<F, T>) -> Result<StepOutput<T>, RunError> {
        let row = self.step_row(key.slug()).await?;
        self.step_output(key.slug(), row)
    }
}

impl RunHandle<Untyped> {
    /// Waits until the run has ended, and returns a JSON object with the outputs of its leaf steps, by slug.
    ///
    /// # Errors
    /// As for a typed handle.
    pub async fn wait(&self) -> Result<Value, RunError> {
        self.decode(&self.wait_text().await?)
    }

    /// Reads what became of the step with slug `slug`.
    ///
    /// # Errors
    /// As for a typed handle, and [`RunError::NoStep`].
    pub async fn step(&self, slug: &str) -> Result<StepOutput<Value>, RunError> {
        let row = self.step_row(slug).await?;
        self.step_output(slug, row)
    }
}

impl<F> std::fmt::Debug for RunHandle<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunHandle").field("run_id", &self.run_id).finish_non_exhaustive()
    }
}
