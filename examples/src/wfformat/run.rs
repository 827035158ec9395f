//! A workflow file as a flow: one step a task, each of which sleeps as long as the task once took.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context;
use flow_runtime::{FlowBuilder, JsonFlow, JsonHandler, RunProgress, StepBuilder, prelude::*};
use serde_json::json;

use super::{
    Workflow,
    names::{slug, step_slugs},
};
use crate::progress;

/// The longest a step may sleep: the longest timeout a step can have.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// What became of a workflow's run.
#[derive(Debug)]
pub struct Ran {
    /// From the start to the last step's end.
    pub makespan: Duration,
    /// The run's steps and tasks at its end.
    pub progress: RunProgress,
}

/// Makes the flow. Its slug carries a hash of the graph, so that a file that has changed is another flow. Each step sleeps its
/// recorded runtime divided by `speed`; 0 is no sleep at all.
///
/// # Errors
/// When a step would sleep for more than a day.
pub fn build(workflow: &Workflow, speed: f64) -> anyhow::Result<JsonFlow> {
    let slugs = step_slugs(workflow.tasks.iter().map(|task| task.id.as_str()));
    let mut graph = FlowBuilder::new(flow_slug(workflow)).timeout(LONGEST).note(&workflow.name);
    let mut sleeps: HashMap<String, Duration> = HashMap::new();
    for (task, slug) in workflow.tasks.iter().zip(&slugs) {
        let parents = task.parents.iter().map(|parent| slugs[*parent].clone());
        graph = graph.step(StepBuilder::single(slug).after(parents).note(&task.id));
        let sleep = if speed == 0.0 {
            Ok(Duration::ZERO)
        } else {
            Duration::try_from_secs_f64(task.runtime.as_secs_f64() / speed)
        };
        let sleep = sleep.ok().filter(|sleep| *sleep < LONGEST);
        let sleep =
            sleep.with_context(|| format!("task `{}` would sleep for more than a day; raise --speed", task.id))?;
        sleeps.insert(slug.clone(), sleep);
    }
    let sleeps = Arc::new(sleeps);
    let handler = JsonHandler::new(move |call| {
        let sleep = sleeps.get(call.ctx().step()).copied().unwrap_or_default();
        async move {
            tokio::time::sleep(sleep).await;
            Ok(json!(null))
        }
    });
    Ok(JsonFlow::builder(graph).other_steps(handler.without_input()).build()?)
}

/// Runs the flow once to its end, with a progress bar.
///
/// # Errors
/// What worker, client or run say.
pub async fn run(db: &Db, flow: JsonFlow, slots: usize) -> anyhow::Result<Ran> {
    let slug = flow.definition().shape.slug.clone();
    let worker = Worker::builder(db).json(flow).concurrency(slots).build()?.start().await?;
    let began_at = Instant::now();
    let run = Client::new(db).start_json(&slug, &json!(null)).await?;
    let ended = progress::wait(&run, run.wait()).await;
    let makespan = began_at.elapsed();
    let progress = run.status().await;
    worker.shutdown().await?;
    ended?;
    Ok(Ran { makespan, progress: progress? })
}

/// `wf_`, the file's name as far as it fits, and a hash of tasks and edges.
fn flow_slug(workflow: &Workflow) -> String {
    let mut hasher = DefaultHasher::new();
    for task in &workflow.tasks {
        (&task.id, &task.parents).hash(&mut hasher);
    }
    format!("wf_{}_{:08x}", slug(&workflow.name, 30), hasher.finish() as u32)
}

#[cfg(test)]
mod tests;
