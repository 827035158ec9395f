//! Deploys a flow: has the database create or verify it, and logs what has changed.

use std::{sync::LazyLock, time::Duration};

use chrono::{DateTime, Utc};
use flow_core::{compatibility::reasons_against_reading, definition::FlowDefinition};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tokio::time::Instant;

use crate::{
    database::{
        deadline::{self, in_time},
        store::{self, DeployResult, Deployed, Environment, Terms},
    },
    error::{DbError, DeployError},
};

/// What a deployment does when types have changed under an unchanged shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnDrift {
    /// Record the change and log the paths that changed. In a production database, refuse a change after which this program cannot read the
    /// values of runs under way.
    #[default]
    Report,
    /// Refuse the deployment, and write nothing.
    Refuse,
    /// Record every change. An attempt that cannot read a value is retried by its step's schedule, so that a worker of the other build can
    /// take it.
    Allow,
}

/// What a deployment does when its options differ from those that a newer build of the program has applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnOptions {
    /// Keep the newer build's options and log each difference: an older instance that restarts during a rollout must not undo new options.
    #[default]
    KeepNewer,
    /// Apply this program's options all the same.
    Apply,
}

/// A definition and how it is to be deployed.
pub(crate) struct Deployment<'a> {
    pub(crate) definition: &'a FlowDefinition,
    /// The version of the crate that the flow is in, where it is known.
    pub(crate) version: Option<&'static str>,
    pub(crate) on_drift: OnDrift,
    pub(crate) on_options: OnOptions,
    /// Whether the deployment may make queues.
    pub(crate) makes_queues: bool,
    /// How long to wait for workers of an older shape to stop, in a development database.
    pub(crate) drain_wait: Duration,
}

/// When this program was built: the modification time of its file, which copies into images normally keep.
static BUILT_AT: LazyLock<Option<DateTime<Utc>>> =
    LazyLock::new(|| std::env::current_exe().ok()?.metadata().ok()?.modified().ok().map(DateTime::from));

/// Creates or verifies the flow. With a changed shape in a development database, waits up to `drain_wait` for older workers to stop.
pub(crate) async fn deploy(connection: &mut PgConnection, deployment: &Deployment<'_>) -> Result<(), DeployError> {
    let slug = &deployment.definition.shape.slug;
    let mut deployed = in_time(deadline::DEPLOY, deploy_once(connection, deployment)).await?;
    if deployed.result == DeployResult::Draining {
        tracing::warn!(flow = slug, "the flow has another shape now; waiting for its older workers to stop");
        let until = Instant::now() + deployment.drain_wait;
        while deployed.result == DeployResult::Draining && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(200)).await;
            deployed = in_time(deadline::DEPLOY, deploy_once(connection, deployment)).await?;
        }
    }
    match deployed.result {
        DeployResult::Mismatch => Err(DeployError::Mismatch { slug: slug.clone(), differences: deployed.differences }),
        DeployResult::Draining => {
            store::withdraw_drain(connection, slug).await?;
            let workers = deployed.workers.iter().map(|worker| format!("{} ({})", worker.worker_id, worker.name));
            Err(DeployError::StillAlive { slug: slug.clone(), workers: workers.collect() })
        }
        DeployResult::Created | DeployResult::Verified | DeployResult::OptionsUpdated | DeployResult::Recreated => {
            log(slug, &deployed);
            Ok(())
        }
    }
}

/// Deploys in one transaction, so that a refused change of types leaves nothing written.
async fn deploy_once(connection: &mut PgConnection, deployment: &Deployment<'_>) -> Result<Deployed, DeployError> {
    let build = json!({ "version": deployment.version, "built_at": *BUILT_AT });
    let terms = Terms {
        on_drift: if deployment.on_drift == OnDrift::Refuse { "refuse" } else { "report" },
        on_options: if deployment.on_options == OnOptions::Apply { "apply" } else { "newer" },
        build: &build,
        makes_queues: deployment.makes_queues,
    };
    let mut transaction = connection.begin().await.map_err(DbError::from)?;
    let deployed = store::deploy(&mut transaction, deployment.definition, &terms).await?;
    let breaking = reasons_new_cannot_read_old(&deployed);
    // The types of an older build are not recorded, so they are not judged: the older instance works on beside the newer ones.
    let is_judged = deployed.environment == Some(Environment::Production) && !deployed.is_older_build;
    if !breaking.is_empty() && is_judged && deployment.on_drift != OnDrift::Allow {
        let slug = &deployment.definition.shape.slug;
        return Err(DeployError::Drift(format!(
            "the types of flow \"{slug}\" have changed so that values of runs under way cannot be read any more: {}; change the \
             types in steps that can (docs/evolving.md), give the flow another slug, or deploy with OnDrift::Allow",
            breaking.join("; ")
        )));
    }
    transaction.commit().await.map_err(DbError::from)?;
    Ok(deployed)
}

/// Why this program cannot read stored values, one text a reason, each beginning with `input` or the step's slug.
fn reasons_new_cannot_read_old(deployed: &Deployed) -> Vec<String> {
    reasons(deployed, |old, new| reasons_against_reading(new, old))
}

fn reasons(deployed: &Deployed, compare: impl Fn(&Value, &Value) -> Vec<String>) -> Vec<String> {
    let of = |change: &store::SchemaChange| -> Vec<String> {
        compare(&change.old, &change.new).into_iter().map(|reason| format!("{}{reason}", change.of)).collect()
    };
    deployed.drift_schemas.iter().flat_map(of).collect()
}

fn log(slug: &str, deployed: &Deployed) {
    if deployed.result == DeployResult::Recreated {
        tracing::warn!(flow = slug, differences = deployed.differences.join("; "), "flow made anew; its runs are gone");
    } else {
        tracing::info!(flow = slug, result = deployed.result.as_str(), "flow deployed");
    }
    if let Some(other) = &deployed.lookalike {
        tracing::warn!(
            "flow `{slug}` has the shape of the deployed flow `{other}`; was `{other}` renamed? Idempotency keys belong to a slug: \
             what was started under `{other}` with a key can be started once more under `{slug}`"
        );
    }
    for change in &deployed.options {
        tracing::info!(
            flow = slug, step = change.step, option = change.option, old = %change.old, new = %change.new,
            "option changed"
        );
    }
    let newer_build = deployed.newer_build.as_ref().map(Value::to_string).unwrap_or_default();
    for change in &deployed.kept_options {
        tracing::warn!(
            flow = slug, step = change.step, option = change.option, kept = %change.old, own = %change.new,
            newer_build,
            "option not applied, because a newer build of the program has applied its own; OnOptions::Apply applies it"
        );
    }
    if let Some(drift) = &deployed.drift {
        log_drift(slug, drift, deployed);
    }
}

fn log_drift(slug: &str, paths: &Value, deployed: &Deployed) {
    let breaking = reasons_new_cannot_read_old(deployed);
    let old_cannot_read_new = reasons(deployed, reasons_against_reading);
    if breaking.is_empty() && old_cannot_read_new.is_empty() {
        tracing::info!(flow = slug, %paths, "types changed under an unchanged shape; old and new programs read each other's values");
    } else {
        tracing::warn!(
            flow = slug, %paths, new_cannot_read_old = breaking.join("; "), old_cannot_read_new = old_cannot_read_new.join("; "),
            "types changed under an unchanged shape; a value that one program cannot read is retried until another one takes it"
        );
    }
}
