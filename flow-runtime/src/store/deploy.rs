//! Deploying definitions.

use flow_core::definition::FlowDefinition;
use serde::Deserialize;
use serde_json::Value;
use sqlx::{PgConnection, types::Json};

use crate::error::DeployError;

/// What the database answered to a definition.
#[derive(Debug, Deserialize)]
pub(crate) struct Deployed {
    /// `created`, `verified`, `options_updated`, `recreated`, `mismatch` or `draining`.
    pub(crate) result: String,
    #[serde(default)]
    pub(crate) differences: Vec<String>,
    #[serde(default)]
    pub(crate) options: Vec<OptionChange>,
    pub(crate) drift: Option<Value>,
    #[serde(default)]
    pub(crate) workers: Vec<LiveWorker>,
    pub(crate) lookalike: Option<String>,
}

/// One option that a deployment changed.
#[derive(Debug, Deserialize)]
pub(crate) struct OptionChange {
    pub(crate) step: String,
    pub(crate) option: String,
    pub(crate) old: Value,
    pub(crate) new: Value,
}

/// A worker that is still alive while its flow is drained.
#[derive(Debug, Deserialize)]
pub(crate) struct LiveWorker {
    pub(crate) worker_id: i64,
    pub(crate) name: String,
}

pub(crate) async fn deploy(
    connection: &mut PgConnection,
    definition: &FlowDefinition,
    on_drift: &str,
) -> Result<Deployed, DeployError> {
    let Json(deployed) = sqlx::query_scalar("select flow.deploy($1, $2)")
        .bind(Json(definition))
        .bind(on_drift)
        .fetch_one(connection)
        .await?;
    Ok(deployed)
}

pub(crate) async fn withdraw_drain(connection: &mut PgConnection, slug: &str) -> Result<(), DeployError> {
    sqlx::query("select flow.withdraw_drain($1)").bind(slug).execute(connection).await?;
    Ok(())
}
