//! Audits a lock file: licences, build scripts, duplicates and `unsafe` of every package, from the sources on this machine.
//!
//! One run a lock file, one task a package. Whatever is wrong with a package is part of the report; nothing fails for it.

use std::{
    io::{Write, stdout},
    path::PathBuf,
    process::ExitCode,
    time::Instant,
};

use anyhow::Context;
use clap::Parser;
use flow_examples::{
    lockfile_audit::{
        Audited, Duplicate, LicenceCount, Package, Registry, Report, Request, count_licences, find_duplicates, parse,
        write_report,
    },
    progress,
};
use flow_runtime::{embedded, prelude::*};

/// Audits the packages of a lock file from their sources on this machine.
#[derive(Parser)]
struct Options {
    /// The lock file, or a folder with a Cargo.lock in it; by default this project's own.
    #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock"), hide_default_value = true)]
    path: PathBuf,
    /// Print the flow's graph at the end, as Mermaid.
    #[arg(long)]
    graph: bool,
    /// Where to write the report.
    #[arg(long, value_name = "FILE", default_value = "target/lockfile-audit.md")]
    out: PathBuf,
}

pub(crate) struct LockfileAudit {
    registry: Registry,
}

#[flow(input = Request, timeout = "5m")]
impl LockfileAudit {
    /// Lists the packages.
    #[step]
    async fn parse(&self, input: Request) -> Result<Vec<Package>, StepError> {
        // The same text is no better the second time.
        parse(&input.lock).permanent()
    }

    /// Reads a package's manifest and counts its source.
    #[map(over = parse, blocking)]
    fn inspect(&self, item: Package) -> Result<Audited, StepError> {
        Ok(self.registry.inspect(item))
    }

    /// Finds the names with several versions.
    #[step]
    async fn duplicates(&self, parse: Vec<Package>) -> Result<Vec<Duplicate>, StepError> {
        Ok(find_duplicates(&parse))
    }

    /// Counts the licences.
    #[step]
    async fn licences(&self, inspect: Vec<Audited>) -> Result<Vec<LicenceCount>, StepError> {
        Ok(count_licences(&inspect))
    }

    /// Brings it all together.
    #[step]
    async fn report(
        &self,
        input: Request,
        inspect: Vec<Audited>,
        duplicates: Vec<Duplicate>,
        licences: Vec<LicenceCount>,
    ) -> Result<Report, StepError> {
        Ok(write_report(&input.title, &inspect, &duplicates, &licences))
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    progress::show_log();
    match audit(&Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn audit(options: &Options) -> anyhow::Result<()> {
    // What can be wrong with the files is found before anything is started.
    let request = Request::read(&options.path)?;
    let out = &options.out;
    let folder = out.parent().unwrap_or(out);
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder `{}`; name another file with --out", folder.display()))?;

    let server = embedded::open("lockfile_audit").await?;
    eprintln!("{}", server.describe());
    let db = Db::embedded(&server).await?;
    let worker =
        Worker::builder(&db).flow(LockfileAudit { registry: Registry::of_this_machine() }).build()?.start().await?;

    let began_at = Instant::now();
    let run = Client::new(&db).start::<LockfileAudit>(&request).await?;
    let report = progress::wait(&run, run.wait()).await?.report;
    let seconds = began_at.elapsed().as_secs_f64();
    let done = run.status().await?;
    worker.shutdown().await?;

    std::fs::write(out, report.page)
        .with_context(|| format!("cannot write the report `{}`; name another file with --out", out.display()))?;
    let mut text = report.summary;
    if options.graph {
        text += &format!("\n{}", LockfileAudit::graph().mermaid());
    }
    let (steps, tasks, out) = (done.steps_done, done.tasks_done, out.display());
    text += &format!("\n{steps} steps and {tasks} tasks in {seconds:.1} s; the report is `{out}`\n");
    // Whoever reads may have seen enough, as in a pipe to `head`.
    let _ = stdout().write_all(text.as_bytes());
    Ok(())
}
