//! Deploying definitions.

use flow_core::definition::FlowDefinition;
use serde::Deserialize;
use serde_json::Value;
use sqlx::{PgConnection, types::Json};

use crate::error::DeployError;

/// What became of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeployResult {
    /// The flow was not there and is now.
    Created,
    /// The flow is there as it was sent.
    Verified,
    /// Options differed and were changed.
    OptionsUpdated,
    /// The flow had another shape and was made anew, in a development database.
    Recreated,
    /// The flow has another shape.
    Mismatch,
    /// The flow has another shape and is made anew when its workers have stopped, in a development database.
    Draining,
}

impl DeployResult {
    /// The word, for the log.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Verified => "verified",
            Self::OptionsUpdated => "options_updated",
            Self::Recreated => "recreated",
            Self::Mismatch => "mismatch",
            Self::Draining => "draining",
        }
    }
}

/// What a database is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Environment {
    /// A flow keeps its shape.
    Production,
    /// A flow may be made anew with another shape.
    Development,
}

/// What the database answered to a definition.
#[derive(Debug, Deserialize)]
pub(crate) struct Deployed {
    pub(crate) result: DeployResult,
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
    pub(crate) environment: Option<Environment>,
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
