//! Deploying definitions.

use flow_core::definition::FlowDefinition;
use serde::Deserialize;
use serde_json::Value;
use sqlx::{PgConnection, types::Json};

use crate::error::DeployError;

/// What a deployment has done with a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeployResult {
    /// The flow was created.
    Created,
    /// The flow was there already, with the same shape and options.
    Verified,
    /// The flow was there with the same shape; options differed and were changed.
    OptionsUpdated,
    /// The flow had another shape and was created anew, in a development database.
    Recreated,
    /// The flow has another shape.
    Mismatch,
    /// The flow has another shape and can be created anew when its workers have stopped, in a development database.
    Draining,
}

impl DeployResult {
    /// The result as a word for the log.
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

/// The setting `environment` of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Environment {
    /// A deployment with another shape is refused.
    Production,
    /// A deployment with another shape creates the flow anew.
    Development,
}

/// The database's answer to a deployment.
#[derive(Debug, Deserialize)]
pub(crate) struct Deployed {
    pub(crate) result: DeployResult,
    #[serde(default)]
    pub(crate) differences: Vec<String>,
    #[serde(default)]
    pub(crate) options: Vec<OptionChange>,
    /// Options that differ and were kept, because a newer build has applied its own options.
    #[serde(default)]
    pub(crate) kept_options: Vec<OptionChange>,
    pub(crate) newer_build: Option<Value>,
    pub(crate) drift: Option<Value>,
    #[serde(default)]
    pub(crate) drift_schemas: Vec<SchemaChange>,
    pub(crate) environment: Option<Environment>,
    /// A newer build has recorded its types; this program's types are not recorded.
    #[serde(default)]
    pub(crate) is_older_build: bool,
    #[serde(default)]
    pub(crate) workers: Vec<LiveWorker>,
    pub(crate) lookalike: Option<String>,
}

/// One option that a deployment has changed, or has kept against the program's own value.
#[derive(Debug, Deserialize)]
pub(crate) struct OptionChange {
    pub(crate) step: String,
    pub(crate) option: String,
    pub(crate) old: Value,
    pub(crate) new: Value,
}

/// The JSON Schema of the input or of one step's output, before and after the deployment.
#[derive(Debug, Deserialize)]
pub(crate) struct SchemaChange {
    /// `input`, or the step's slug.
    pub(crate) of: String,
    pub(crate) old: Value,
    pub(crate) new: Value,
}

/// The terms under which a definition is deployed, as `flow.deploy` takes them.
#[derive(Debug)]
pub(crate) struct Terms<'a> {
    pub(crate) on_drift: &'static str,
    pub(crate) on_options: &'static str,
    pub(crate) build: &'a Value,
    /// Whether the deployment may make queues.
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
