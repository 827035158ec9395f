//! Registering workers and marking them stopped.

use flow_core::definition::FlowShape;
use sqlx::{PgConnection, types::Json};

use crate::{
    database::migrate::versions::INTERFACE,
    error::{DbError, DeployError},
};

/// A worker to register.
#[derive(Debug)]
pub(crate) struct NewWorker<'a> {
    pub(crate) worker_id: i64,
    pub(crate) process_id: i64,
    pub(crate) name: &'a str,
    pub(crate) shape: &'a FlowShape,
    pub(crate) queue: &'a str,
    pub(crate) steps: &'a [i32],
    pub(crate) input_steps: &'a [i32],
}

/// Refuses a worker name that is disabled.
pub(crate) async fn refuse_disabled(connection: &mut PgConnection, name: &str) -> Result<(), DeployError> {
    sqlx::query("select flow.refuse_disabled($1)").bind(name).execute(connection).await?;
    Ok(())
}

/// Registers a worker. Returns the id of the worker's queue.
pub(crate) async fn register_worker(connection: &mut PgConnection, new: &NewWorker<'_>) -> Result<i32, DeployError> {
    Ok(sqlx::query_scalar("select flow.register_worker($1, $2, $3, $4, $5, $6, $7, $8, $9)")
        .bind(new.worker_id)
        .bind(new.process_id)
        .bind(new.name)
        .bind(&new.shape.slug)
        .bind(Json(new.shape))
        .bind(new.queue)
        .bind(new.steps)
        .bind(new.input_steps)
        .bind(INTERFACE)
        .fetch_one(connection)
        .await?)
}

/// Marks a worker stopped. Returns the batches of its hand, which are to be recovered.
pub(crate) async fn stop_worker(connection: &mut PgConnection, worker_id: i64) -> Result<Vec<i64>, DbError> {
    Ok(sqlx::query_scalar("select flow.stop_worker($1)").bind(worker_id).fetch_one(connection).await?)
}

/// The queues of the flow that have work and no worker.
pub(crate) async fn unserved_queues(connection: &mut PgConnection, slug: &str) -> Result<Vec<String>, DbError> {
    Ok(sqlx::query_scalar("select flow.unserved_queues($1)").bind(slug).fetch_one(connection).await?)
}

/// The queues of the flow with work that no worker would ever take up.
pub(crate) async fn stranded_queues(connection: &mut PgConnection, slug: &str) -> Result<Vec<String>, DbError> {
    Ok(sqlx::query_scalar("select flow.stranded_queues($1)").bind(slug).fetch_one(connection).await?)
}

/// Whether the setting `retention` is on, so that ended runs are removed some time after their end.
pub(crate) async fn has_retention(connection: &mut PgConnection) -> Result<bool, DbError> {
    let query = "select s.value <> '\"off\"' from flow.setting s where s.name = 'retention'";
    Ok(sqlx::query_scalar(query).fetch_optional(connection).await?.unwrap_or(false))
}

/// Removes some of the runs that the setting `retention` keeps no longer. Returns how many were removed, and whether there are more.
pub(crate) async fn keep_house(connection: &mut PgConnection) -> Result<(i32, bool), DbError> {
    Ok(sqlx::query_as("select k.p_runs, k.p_has_more from flow.keep_house() k").fetch_one(connection).await?)
}
