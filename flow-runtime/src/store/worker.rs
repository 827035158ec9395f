//! Registering workers and marking them stopped.

use flow_core::definition::FlowShape;
use sqlx::{PgConnection, types::Json};

use crate::{
    error::{DbError, DeployError},
    migrate::INTERFACE,
};

/// A worker to register.
#[derive(Debug)]
pub(crate) struct NewWorker<'a> {
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

/// The worker's id and its queue's.
pub(crate) async fn register_worker(
    connection: &mut PgConnection,
    new: &NewWorker<'_>,
) -> Result<(i64, i32), DeployError> {
    Ok(sqlx::query_as("select p_worker, p_queue_id from flow.register_worker($1, $2, $3, $4, $5, $6, $7)")
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

pub(crate) async fn stop_worker(connection: &mut PgConnection, worker_id: i64) -> Result<(), DbError> {
    sqlx::query("select flow.stop_worker($1)").bind(worker_id).execute(connection).await?;
    Ok(())
}

/// The queues of the flow that have work and no worker.
pub(crate) async fn unserved_queues(connection: &mut PgConnection, slug: &str) -> Result<Vec<String>, DbError> {
    Ok(sqlx::query_scalar("select flow.unserved_queues($1)").bind(slug).fetch_one(connection).await?)
}
