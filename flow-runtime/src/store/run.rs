//! Starting, reading and cancelling runs.

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::call::{Call, first_row, only_value};
use crate::error::{DbError, StartError};

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

impl NewRuns {
    fn call(&self) -> Call {
        Call::new("select flow.start_runs")
            .arg(&self.slug)
            .arg(&self.inputs)
            .arg(&self.run_ids)
            .arg(&self.keys)
            .arg(&self.start_at)
    }
}

/// The runs' ids, in the order of the inputs.
pub(crate) async fn start_runs(pool: &PgPool, new: &NewRuns) -> Result<Vec<Uuid>, StartError> {
    Ok(only_value(new.call().rows(pool).await?)?)
}

/// The same in the transaction that the caller has begun on `connection`.
pub(crate) async fn start_runs_in(connection: &mut PgConnection, new: &NewRuns) -> Result<Vec<Uuid>, StartError> {
    Ok(only_value(new.call().rows_in_transaction(connection).await?)?)
}

pub(crate) async fn get_run(pool: &PgPool, run: Uuid) -> Result<Option<RunRow>, DbError> {
    let call = Call::new("select flow, status, error_step, error, output from flow.get_run").arg(&run);
    first_row(call.rows(pool).await?)
}

pub(crate) async fn get_step(pool: &PgPool, run: Uuid, step: &str) -> Result<Option<StepRow>, DbError> {
    let call = Call::new("select flow, status, error, output from flow.get_step").arg(&run).arg(step);
    first_row(call.rows(pool).await?)
}

pub(crate) async fn run_progress(pool: &PgPool, run: Uuid) -> Result<Option<RunProgress>, DbError> {
    let call =
        Call::new("select status, steps_done, steps_total, tasks_done, tasks_known from flow.run_progress").arg(&run);
    first_row(call.rows(pool).await?)
}

pub(crate) async fn ended_runs(pool: &PgPool, runs: &[Uuid]) -> Result<Vec<Uuid>, sqlx::Error> {
    only_value(Call::new("select flow.ended_runs").arg(runs).rows(pool).await?)
}

/// The run's status afterwards; `None` when there is no such run.
pub(crate) async fn cancel_run(pool: &PgPool, run: Uuid) -> Result<Option<String>, DbError> {
    match Call::new("select flow.cancel_run").arg(&run).as_text().rows(pool).await {
        Err(error) if crate::error::sqlstate(&error).as_deref() == Some("WF002") => Ok(None),
        rows => Ok(Some(only_value(rows?)?)),
    }
}
