//! Starting, reading and cancelling runs.

use std::{collections::HashMap, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use flow_core::status::{RunStatus, StepStatus};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    database::{
        deadline,
        pool::SharedPool,
        store::{
            call::{Call, first_row, only_value},
            news::{News, NewsColumns},
            word::Word,
            work::{Claimed, WorkId},
        },
    },
    error::{DbError, StartError},
    fault,
};

/// Runs to start. Each list has one entry a run; `keys` and `start_at` may be empty.
#[derive(Debug, Default)]
pub(crate) struct NewRuns {
    pub(crate) slug: String,
    pub(crate) inputs: Vec<String>,
    pub(crate) run_ids: Vec<Uuid>,
    pub(crate) keys: Vec<Option<String>>,
    pub(crate) start_at: Vec<Option<DateTime<Utc>>>,
}

impl NewRuns {
    /// No runs yet, of the flow with this slug.
    pub(crate) fn of(slug: &str) -> Self {
        Self { slug: slug.to_owned(), ..Self::default() }
    }
}

/// A worker of this program that takes over the work which a start hands out.
#[derive(Debug)]
pub(crate) struct Handing {
    pub(crate) process_id: i64,
    pub(crate) worker_id: i64,
    /// The number of the start among the worker's exchanges and starts.
    pub(crate) batch: i64,
    /// How many of the worker's slots are reserved for the start.
    pub(crate) slots: usize,
}

/// The work that a start has handed out.
#[derive(Debug, Default)]
pub(crate) struct Handed {
    pub(crate) claimed: Vec<Claimed>,
    /// When the work was claimed, on the database's clock.
    pub(crate) claimed_at: Option<DateTime<Utc>>,
}

/// What a start has brought about.
#[derive(Debug)]
pub(crate) struct Started {
    /// The runs' ids, in the order of the inputs.
    pub(crate) ids: Vec<Uuid>,
    /// What is to be told to others.
    pub(crate) news: News,
    pub(crate) handed: Handed,
}

/// One run as stored.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct RunRow {
    pub(crate) flow: String,
    pub(crate) status: Word<RunStatus>,
    pub(crate) error_step: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) output: Option<String>,
}

/// One step of a run as stored.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct StepRow {
    pub(crate) flow: String,
    /// `None` when the flow has no such step.
    pub(crate) status: Option<Word<StepStatus>>,
    pub(crate) error: Option<String>,
    pub(crate) output: Option<String>,
}

/// How far a run has come.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct RunProgress {
    pub(crate) status: Word<RunStatus>,
    pub(crate) steps_done: i64,
    pub(crate) steps_total: i64,
    pub(crate) tasks_done: i64,
    pub(crate) tasks_known: i64,
}

#[derive(sqlx::FromRow)]
struct StartedRow {
    p_ids: Vec<Uuid>,
    p_claimed_at: Option<DateTime<Utc>>,
    p_claimed_runs: Option<Vec<Uuid>>,
    p_claimed_steps: Option<Vec<i32>>,
    p_claimed_attempts: Option<Vec<i32>>,
    p_claimed_timeouts_ms: Option<Vec<i64>>,
    p_value_runs: Option<Vec<Uuid>>,
    p_values: Option<Vec<String>>,
    #[sqlx(flatten)]
    news: NewsColumns,
}

#[derive(sqlx::FromRow)]
struct CancelledRow {
    p_status: Word<RunStatus>,
    #[sqlx(flatten)]
    news: NewsColumns,
}

impl NewRuns {
    fn call(&self, head: &'static str) -> Call {
        Call::new(head).arg(&self.slug).arg(&self.inputs).arg(&self.run_ids).arg(&self.keys).arg(&self.start_at)
    }
}

/// Starts runs, and hands their first steps out to a worker of this program, if `handing` names one. The runs have ids, so a start whose
/// reply was lost can be repeated without starting a run twice.
pub(crate) async fn start_runs(
    pool: &SharedPool,
    new: &NewRuns,
    handing: Option<&Handing>,
) -> Result<Started, StartError> {
    let message = |is_repeat| {
        let call = new.call("select s.* from flow.start_runs_quietly").arg(&is_repeat);
        let call = match handing {
            Some(to) => {
                let slots = i32::try_from(to.slots).unwrap_or(i32::MAX);
                call.arg(&to.process_id).arg(&to.worker_id).arg(&to.batch).arg(&slots)
            }
            None => call,
        };
        call.named("s").message()
    };
    let mut rows = pool.call(deadline::START, message).await?;
    if handing.is_some() && fault::is_cut("started") {
        rows = pool.call(deadline::START, |_| message(true)).await?;
    }
    let started = first_row::<StartedRow>(rows)?.ok_or_else(|| DbError::from(sqlx::Error::RowNotFound))?;
    Ok(started.into_started(handing.map_or(0, |to| to.batch)))
}

impl StartedRow {
    /// Makes the handed-out work from the columns of the reply. First steps depend on nothing, so their only value is the run's input.
    fn into_started(self, batch: i64) -> Started {
        let inputs: HashMap<Uuid, Arc<str>> = self
            .p_value_runs
            .unwrap_or_default()
            .into_iter()
            .zip(self.p_values.unwrap_or_default().into_iter().map(Into::into))
            .collect();
        let numbers = self.p_claimed_attempts.unwrap_or_default().into_iter();
        let numbers = numbers.zip(self.p_claimed_timeouts_ms.unwrap_or_default());
        let places = self.p_claimed_runs.unwrap_or_default().into_iter().zip(self.p_claimed_steps.unwrap_or_default());
        let claimed = places.zip(numbers).map(|((run_id, step), (attempt, timeout_ms))| Claimed {
            id: WorkId { run_id, step, task: -1, batch },
            attempt,
            timeout: Duration::from_millis(timeout_ms.unsigned_abs()),
            is_exhausted: false,
            item: None,
            input: inputs.get(&run_id).cloned(),
            deps: Vec::new(),
        });
        let handed = Handed { claimed: claimed.collect(), claimed_at: self.p_claimed_at };
        Started { ids: self.p_ids, news: self.news.into(), handed }
    }
}

/// Starts runs in the transaction that the caller has begun on `connection`; its commit notifies others. Returns the runs' ids.
pub(crate) async fn start_runs_in(connection: &mut PgConnection, new: &NewRuns) -> Result<Vec<Uuid>, StartError> {
    Ok(only_value(new.call("select flow.start_runs").rows_in_transaction(connection).await?)?)
}

pub(crate) async fn get_run(pool: &SharedPool, run: Uuid) -> Result<Option<RunRow>, DbError> {
    let call =
        Call::new("select r.* from flow.require_writable() cross join lateral flow.get_run").arg(&run).named("r");
    first_row(call.rows(pool, deadline::READ).await?)
}

pub(crate) async fn get_step(pool: &SharedPool, run: Uuid, step: &str) -> Result<Option<StepRow>, DbError> {
    let call = Call::new("select s.* from flow.require_writable() cross join lateral flow.get_step")
        .arg(&run)
        .arg(step)
        .named("s");
    first_row(call.rows(pool, deadline::READ).await?)
}

pub(crate) async fn run_progress(pool: &SharedPool, run: Uuid) -> Result<Option<RunProgress>, DbError> {
    let call =
        Call::new("select p.* from flow.require_writable() cross join lateral flow.run_progress").arg(&run).named("p");
    first_row(call.rows(pool, deadline::READ).await?)
}

pub(crate) async fn list_ended_runs(pool: &SharedPool, runs: &[Uuid]) -> Result<Vec<Uuid>, sqlx::Error> {
    let call = Call::new("select e.* from flow.require_writable() cross join lateral flow.list_ended_runs")
        .arg(runs)
        .named("e");
    only_value(call.rows(pool, deadline::POLL).await?)
}

/// Cancels a run. Returns the run's status afterwards and what is to be told to others; `None` when there is no such run.
pub(crate) async fn cancel_run(pool: &SharedPool, run: Uuid) -> Result<Option<(RunStatus, News)>, DbError> {
    let call = Call::new("select c.* from flow.cancel_run_quietly").arg(&run).named("c");
    match call.rows(pool, deadline::START).await {
        Err(error) if crate::error::sqlstate(&error).as_deref() == Some("WF002") => Ok(None),
        rows => Ok(first_row::<CancelledRow>(rows?)?.map(|row| (row.p_status.0, row.news.into()))),
    }
}
