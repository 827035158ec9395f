//! The client: starts runs, finds runs that were started before, and deploys flows.

pub(crate) mod run_handle;

use std::{
    fmt,
    future::{Future, IntoFuture},
    marker::PhantomData,
    pin::Pin,
    time::Duration,
};

use chrono::{DateTime, Utc};
use flow_core::{flow::Flow, value::FlowValue};
use serde_json::Value;
use sqlx::PgConnection;

use crate::{
    client::run_handle::{RunHandle, Untyped},
    database::{
        db::Db,
        deploy::{self, Deployment, OnDrift, OnOptions},
        id::RunId,
        store::{self, NewRuns},
    },
    error::{DbError, DeployError, RunError, StartError},
    worker::hand_over,
};

/// Starts runs and returns their handles. Cheap to clone; never changes the schema.
///
/// ```no_run
/// # use flow_runtime::prelude::*;
/// # struct Greet;
/// # #[flow(input = String)]
/// # impl Greet {
/// #     #[step]
/// #     async fn greet(&self, input: String) -> Result<String, StepError> { Ok(input) }
/// # }
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::connect("postgres://localhost/app").await?;
/// let run = client.start::<Greet>(&"hello".into()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Client {
    db: Db,
}

impl Client {
    /// Takes a database by its address and opens one connection, so that a wrong address is found here.
    ///
    /// # Errors
    /// [`DbError`], which says whether address, user, database or schema is at fault.
    pub async fn connect(url: &str) -> Result<Self, DbError> {
        let db = Db::new(url)?;
        drop(db.connect().await?);
        Ok(Self::new(&db))
    }

    /// Makes a client of a database that this process uses already. Opens no connection.
    pub fn new(db: &Db) -> Self {
        Self { db: db.clone() }
    }

    /// Prepares the start of one run of flow `F`. Awaiting the returned [`Start`] starts the run; options can be set before.
    ///
    /// ```no_run
    /// # use flow_runtime::prelude::*;
    /// # async fn example<F: Flow>(client: Client, input: F::Input) -> Result<(), Box<dyn std::error::Error>> {
    /// let run = client.start::<F>(&input).idempotency_key("order-17").await?;
    /// let output = run.wait().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn start<F: Flow>(&self, input: &F::Input) -> Start<F> {
        Start::new(&self.db, F::SLUG, FlowValue::to_json(input))
    }

    /// Prepares the start of one run of the flow with slug `slug`, whose types this process does not know.
    pub fn start_json(&self, slug: &str, input: &Value) -> Start<Untyped> {
        Start::new(&self.db, slug, FlowValue::to_json(input))
    }

    /// Starts one run for each input, in one call: all runs, or none when an input is refused. Returns the handles in the order of the
    /// inputs.
    ///
    /// ```no_run
    /// # use flow_runtime::prelude::*;
    /// # struct Greet;
    /// # #[flow(input = String)]
    /// # impl Greet {
    /// #     #[step]
    /// #     async fn greet(&self, input: String) -> Result<String, StepError> { Ok(input) }
    /// # }
    /// # async fn example(client: Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let runs = client.start_many::<Greet>(&["one".into(), "two".into()]).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`StartError`]; nothing was written.
    pub async fn start_many<F: Flow>(&self, inputs: &[F::Input]) -> Result<Vec<RunHandle<F>>, StartError> {
        let texts = inputs.iter().map(FlowValue::to_json).collect::<Result<_, _>>().map_err(StartError::Encode)?;
        let run_ids = inputs.iter().map(|_| RunId::generate().into()).collect();
        let new = NewRuns { inputs: texts, run_ids, ..NewRuns::of(F::SLUG) };
        let ids = start(&self.db, &new).await?;
        tracing::info!(flow = F::SLUG, runs = ids.len(), "runs started");
        Ok(ids.into_iter().map(|id| RunHandle::new(self.db.clone(), id)).collect())
    }

    /// Creates or verifies a flow as a worker does at its start, but without a worker. A release job can call this to see drift and
    /// differences before any worker is replaced. Writes rows only, and makes no tables.
    ///
    /// ```no_run
    /// # use flow_runtime::prelude::*;
    /// # struct Greet;
    /// # #[flow(input = String)]
    /// # impl Greet {
    /// #     #[step]
    /// #     async fn greet(&self, input: String) -> Result<String, StepError> { Ok(input) }
    /// # }
    /// # async fn example(client: Client) -> Result<(), Box<dyn std::error::Error>> {
    /// client.deploy::<Greet>().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DeployError`]; [`DeployError::Queue`] when the flow's queues are not there yet. A client makes no queues; a worker of the flow
    /// makes them at its first start.
    pub async fn deploy<F: Flow>(&self) -> Result<(), DeployError> {
        let definition = F::definition();
        definition.check().map_err(|errors| DeployError::Invalid(errors.to_string()))?;
        let deployment = Deployment {
            definition: &definition,
            version: F::VERSION,
            on_drift: OnDrift::Report,
            on_options: OnOptions::KeepNewer,
            makes_queues: false,
            drain_wait: Duration::ZERO,
        };
        deploy::deploy(&mut self.db.connect().await?, &deployment).await
    }

    /// Finds a run of flow `F` that was started before, and returns its handle.
    ///
    /// ```no_run
    /// # use flow_runtime::prelude::*;
    /// # struct Greet;
    /// # #[flow(input = String)]
    /// # impl Greet {
    /// #     #[step]
    /// #     async fn greet(&self, input: String) -> Result<String, StepError> { Ok(input) }
    /// # }
    /// # async fn example(client: Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let run = client.run::<Greet>("01a22ecc-aaad-7049-9629-b662b7b67abb".parse()?).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`RunError::NotFound`]; [`RunError::OtherFlow`] when the run is one of another flow; [`RunError::Db`].
    pub async fn run<F: Flow>(&self, run_id: RunId) -> Result<RunHandle<F>, RunError> {
        let handle = RunHandle::new(self.db.clone(), run_id);
        let row = store::get_run(self.db.pool(), run_id.into()).await?.ok_or(RunError::NotFound(run_id))?;
        if row.flow == F::SLUG {
            return Ok(handle);
        }
        Err(RunError::OtherFlow { run_id, expected: F::SLUG.to_owned(), actual: row.flow })
    }

    /// Returns the handle of a run whose flow's types this process does not know. Does not ask the database whether the run exists.
    ///
    /// ```no_run
    /// # use flow_runtime::prelude::*;
    /// # struct Greet;
    /// # #[flow(input = String)]
    /// # impl Greet {
    /// #     #[step]
    /// #     async fn greet(&self, input: String) -> Result<String, StepError> { Ok(input) }
    /// # }
    /// # async fn example(client: Client, id: RunId) -> Result<(), Box<dyn std::error::Error>> {
    /// let output: serde_json::Value = client.run_json(id).wait().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn run_json(&self, run_id: RunId) -> RunHandle<Untyped> {
        RunHandle::new(self.db.clone(), run_id)
    }
}

/// Starts the runs. First steps begin in a worker of this program that has free slots; the workers that wait for the other work are told.
async fn start(db: &Db, new: &NewRuns) -> Result<Vec<RunId>, StartError> {
    let started = hand_over::start_runs(db, new).await?;
    db.hub().tell(started.news);
    Ok(started.ids.into_iter().map(RunId::from).collect())
}

/// A run that is not started yet. Awaiting this starts the run.
///
/// ```no_run
/// # use flow_runtime::prelude::*;
/// # struct Greet;
/// # #[flow(input = String)]
/// # impl Greet {
/// #     #[step]
/// #     async fn greet(&self, input: String) -> Result<String, StepError> { Ok(input) }
/// # }
/// # async fn example(client: Client) -> Result<(), Box<dyn std::error::Error>> {
/// let run = client.start::<Greet>(&"hello".into()).idempotency_key("order 7").await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a run is started when this is awaited"]
pub struct Start<F> {
    db: Db,
    new: NewRuns,
    input: serde_json::Result<String>,
    /// Whether the caller has given the run an id or a key, so that the run may have been there before. For the log.
    is_named: bool,
    flow: PhantomData<fn() -> F>,
}

impl<F: 'static> Start<F> {
    /// Gives the run its id before the call, so that a start whose reply is lost can be repeated without starting a second run.
    fn new(db: &Db, slug: &str, input: serde_json::Result<String>) -> Self {
        let new = NewRuns { run_ids: vec![RunId::generate().into()], ..NewRuns::of(slug) };
        Self { db: db.clone(), new, input, is_named: false, flow: PhantomData }
    }

    /// Gives the run this id. When a run of the flow has the id already, no run is started and the handle is that run's.
    pub fn run_id(mut self, run_id: RunId) -> Self {
        self.new.run_ids = vec![run_id.into()];
        self.is_named = true;
        self
    }

    /// Starts the run only when no run of the flow has this key. Else the handle is that of the run with the key, whatever input and status
    /// that run has.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.new.keys = vec![Some(key.into())];
        self.is_named = true;
        self
    }

    /// Holds the run's first steps back until `at`. The run itself exists at once.
    pub fn start_at(mut self, at: DateTime<Utc>) -> Self {
        self.new.start_at = vec![Some(at)];
        self
    }

    /// Starts the run in the caller's transaction: its steps cannot be claimed before the commit, and a rollback removes the run.
    ///
    /// ```no_run
    /// # use flow_runtime::prelude::*;
    /// # struct Greet;
    /// # #[flow(input = String)]
    /// # impl Greet {
    /// #     #[step]
    /// #     async fn greet(&self, input: String) -> Result<String, StepError> { Ok(input) }
    /// # }
    /// # async fn example(client: Client, pool: sqlx::PgPool) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut transaction = pool.begin().await?;
    /// // … your own statements …
    /// let run = client.start::<Greet>(&"hello".into()).start_in(&mut transaction).await?;
    /// transaction.commit().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`StartError`]; the transaction is then aborted.
    pub async fn start_in(mut self, connection: &mut PgConnection) -> Result<RunHandle<F>, StartError> {
        self.encode()?;
        let ids = store::start_runs_in(connection, &self.new).await?;
        self.handle(ids.first().copied().map(RunId::from))
    }

    /// Moves the encoded input into the arguments of the call, or returns the error of its encoding.
    fn encode(&mut self) -> Result<(), StartError> {
        let input = std::mem::replace(&mut self.input, Ok(String::new())).map_err(StartError::Encode)?;
        self.new.inputs = vec![input];
        Ok(())
    }

    fn handle(self, id: Option<RunId>) -> Result<RunHandle<F>, StartError> {
        let id = id.ok_or_else(|| DbError::from(sqlx::Error::RowNotFound))?;
        tracing::info!(flow = self.new.slug, run = %id, may_have_been_there = self.is_named, "run started");
        Ok(RunHandle::new(self.db, id))
    }
}

impl<F: 'static> IntoFuture for Start<F> {
    type Output = Result<RunHandle<F>, StartError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move {
            self.encode()?;
            let ids = start(&self.db, &self.new).await?;
            self.handle(ids.first().copied())
        })
    }
}

impl<F> fmt::Debug for Start<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start").field("flow", &self.new.slug).finish_non_exhaustive()
    }
}
