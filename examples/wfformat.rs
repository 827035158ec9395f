//! Runs a recorded scientific workflow: any WfFormat 1.5 file, one step a task, each sleeping its recorded runtime.
//!
//! `cargo run --example wfformat -- examples/data/bakery.json --speed 10`

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, ensure};
use clap::Parser;
use flow_examples::{
    progress,
    wfformat::{Ran, Workflow, build, run},
};
use flow_runtime::{Db, embedded};

/// Runs a WfFormat 1.5 file with each task sleeping as long as it once took.
#[derive(Parser)]
struct Options {
    /// The file.
    file: PathBuf,
    /// How many times faster than recorded; 0 does not sleep at all.
    #[arg(long, default_value_t = 1000.0)]
    speed: f64,
    /// How many steps run at once.
    #[arg(long, default_value_t = 500)]
    slots: usize,
    /// Write the graph to a file ending in .dot or .mmd.
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    progress::show_log();
    match replay(&Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn replay(options: &Options) -> anyhow::Result<()> {
    ensure!(options.speed.is_finite() && options.speed >= 0.0, "--speed takes a number from 0 on");
    let workflow = Workflow::read(&options.file)?;
    let flow = build(&workflow, options.speed)?;
    if let Some(path) = &options.graph {
        let graph = flow.definition().graph();
        let text = match path.extension().and_then(|ending| ending.to_str()) {
            Some("dot") => graph.dot(),
            Some("mmd") => graph.mermaid(),
            _ => anyhow::bail!("cannot tell the graph's language from `{}`; name a .dot or .mmd file", path.display()),
        };
        std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }

    let server = embedded::open("wfformat").await?;
    eprintln!("{}", server.describe());
    let db = Db::embedded(&server).await?;
    let ran = run(&db, flow, options.slots).await?;
    print!("{}", summary(&workflow, options.speed, &ran));
    Ok(())
}

fn summary(workflow: &Workflow, speed: f64, ran: &Ran) -> String {
    let (work, path, makespan) = (workflow.work(), workflow.critical_path(), ran.makespan.as_secs_f64());
    let mut text = format!(
        "tasks          {} with {} edges\nrecorded work  {:.1} s\ncritical path  {:.1} s\nmakespan       {makespan:.2} s at --speed {speed}\n",
        ran.progress.tasks_done,
        workflow.edges(),
        work.as_secs_f64(),
        path.as_secs_f64(),
    );
    if speed > 0.0 {
        let bound = work.as_secs_f64() / path.as_secs_f64();
        let reached = work.as_secs_f64() / speed / makespan;
        text += &format!("speed-up       {reached:.2} of at most {bound:.2} (work by critical path)\n");
    }
    text
}
