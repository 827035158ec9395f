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
    /// Options that differ and were left as they are, because a newer build has applied its own.
    #[serde(default)]
    pub(crate) kept_options: Vec<OptionChange>,
    pub(crate) newer_build: Option<Value>,
    pub(crate) drift: Option<Value>,
    #[serde(default)]
    pub(crate) drift_schemas: Vec<SchemaChange>,
    pub(crate) environment: Option<String>,
    /// A newer build has recorded its types, and they stay.
    #[serde(default)]
    pub(crate) is_older_build: bool,
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

/// The schema of the input or of one step's output, before and after.
#[derive(Debug, Deserialize)]
pub(crate) struct SchemaChange {
    /// `input`, or the step's slug.
    pub(crate) of: String,
    pub(crate) old: Value,
    pub(crate) new: Value,
}

/// Under which terms a definition is deployed.
#[derive(Debug)]
pub(crate) struct Terms<'a> {
    pub(crate) on_drift: &'static str,
    pub(crate) on_options: &'static str,
    pub(crate) build: &'a Value,
    /// Whether queues may be made, which are tables.
    pub(crate) makes_queues: bool,
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
    terms: &Terms<'_>,
) -> Result<Deployed, DeployError> {
    let Json(deployed) = sqlx::query_scalar("select flow.deploy($1, $2, $3, $4, $5)")
        .persistent(false)
        .bind(Json(definition))
        .bind(terms.on_drift)
        .bind(terms.build)
        .bind(terms.on_options)
        .bind(terms.makes_queues)
        .fetch_one(connection)
        .await?;
    Ok(deployed)
}

pub(crate) async fn withdraw_drain(connection: &mut PgConnection, slug: &str) -> Result<(), DeployError> {
    sqlx::query("select flow.withdraw_drain($1)").persistent(false).bind(slug).execute(connection).await?;
    Ok(())
}
