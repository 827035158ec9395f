//! Starting, reading and cancelling runs.

use chrono::{DateTime, Utc};
use sqlx::{PgExecutor, PgPool};
use uuid::Uuid;

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

pub(crate) async fn start_runs(executor: impl PgExecutor<'_>, new: &NewRuns) -> Result<Vec<Uuid>, StartError> {
    Ok(sqlx::query_scalar("select flow.start_runs($1, $2, $3, $4, $5)")
        .bind(&new.slug)
        .bind(&new.inputs)
        .bind(&new.run_ids)
        .bind(&new.keys)
        .bind(&new.start_at)
        .fetch_one(executor)
        .await?)
}

pub(crate) async fn get_run(pool: &PgPool, run: Uuid) -> Result<Option<RunRow>, DbError> {
    Ok(sqlx::query_as("select flow, status, error_step, error, output from flow.get_run($1)")
        .bind(run)
        .fetch_optional(pool)
        .await?)
}

pub(crate) async fn get_step(pool: &PgPool, run: Uuid, step: &str) -> Result<Option<StepRow>, DbError> {
    Ok(sqlx::query_as("select flow, status, error, output from flow.get_step($1, $2)")
        .bind(run)
        .bind(step)
        .fetch_optional(pool)
        .await?)
}

pub(crate) async fn run_progress(pool: &PgPool, run: Uuid) -> Result<Option<RunProgress>, DbError> {
    Ok(sqlx::query_as("select * from flow.run_progress($1)").bind(run).fetch_optional(pool).await?)
}

pub(crate) async fn ended_runs(pool: &PgPool, runs: &[Uuid]) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar("select flow.ended_runs($1)").bind(runs).fetch_one(pool).await
}

/// The run's status afterwards; `None` when there is no such run.
pub(crate) async fn cancel_run(pool: &PgPool, run: Uuid) -> Result<Option<String>, DbError> {
    let cancelled = sqlx::query_scalar("select flow.cancel_run($1)::text").bind(run).fetch_one(pool).await;
    match cancelled {
        Err(error) if crate::error::sqlstate(&error).as_deref() == Some("WF002") => Ok(None),
        other => Ok(Some(other?)),
    }
}
