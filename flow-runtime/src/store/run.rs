//! Starting, reading and cancelling runs.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{
    call::{Call, first_row, only_value},
    news::{News, NewsColumns},
};
use crate::{
    database::{SharedPool, deadline},
    error::{DbError, StartError},
};

/// Runs to start, one entry a run in each list; the optional lists may be empty.
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

/// One run as stored.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct RunRow {
    pub(crate) flow: String,
    pub(crate) status: String,
    pub(crate) error_step: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) output: Option<String>,
}

/// One step of a run as stored.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct StepRow {
    pub(crate) flow: String,
    pub(crate) status: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) output: Option<String>,
}

/// How far a run has come.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct RunProgress {
    pub(crate) status: String,
    pub(crate) steps_done: i64,
    pub(crate) steps_total: i64,
    pub(crate) tasks_done: i64,
    pub(crate) tasks_known: i64,
}

#[derive(sqlx::FromRow)]
struct StartedRow {
    p_ids: Vec<Uuid>,
    #[sqlx(flatten)]
    news: NewsColumns,
}

#[derive(sqlx::FromRow)]
struct CancelledRow {
    p_status: String,
    #[sqlx(flatten)]
    news: NewsColumns,
}

impl NewRuns {
    fn call(&self, head: &'static str) -> Call {
        Call::new(head).arg(&self.slug).arg(&self.inputs).arg(&self.run_ids).arg(&self.keys).arg(&self.start_at)
    }
}

/// The runs' ids, in the order of the inputs, and what is to be told to others. The runs have ids or keys, so that a start whose reply was
/// lost is repeated and starts nothing twice.
pub(crate) async fn start_runs(pool: &SharedPool, new: &NewRuns) -> Result<(Vec<Uuid>, News), StartError> {
    let message = |is_repeat| new.call("select s.* from flow.start_runs_quietly").arg(&is_repeat).named("s").message();
    let rows = pool.call(deadline::START, message).await?;
    let started = first_row::<StartedRow>(rows)?.ok_or_else(|| DbError::from(sqlx::Error::RowNotFound))?;
    Ok((started.p_ids, started.news.into()))
}

/// Starts runs in the transaction that the caller has begun on `connection`, which tells others by its commit. Returns their ids.
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

pub(crate) async fn ended_runs(pool: &SharedPool, runs: &[Uuid]) -> Result<Vec<Uuid>, sqlx::Error> {
    let call =
        Call::new("select e.* from flow.require_writable() cross join lateral flow.ended_runs").arg(runs).named("e");
    only_value(call.rows(pool, deadline::POLL).await?)
}

/// The run's status afterwards, and what is to be told to others; `None` when there is no such run.
pub(crate) async fn cancel_run(pool: &SharedPool, run: Uuid) -> Result<Option<(String, News)>, DbError> {
    let call = Call::new("select c.* from flow.cancel_run_quietly").arg(&run).named("c");
    match call.rows(pool, deadline::START).await {
        Err(error) if crate::error::sqlstate(&error).as_deref() == Some("WF002") => Ok(None),
        rows => Ok(first_row::<CancelledRow>(rows?)?.map(|row| (row.p_status, row.news.into()))),
    }
}
