//! Audits a lock file: licences, build scripts, duplicates and `unsafe` of every package, from the sources on this machine.

use std::path::PathBuf;

use clap::Parser;
use flow_examples::lockfile_audit::{Registry, Request, count_licences, find_duplicates, parse, write_report};

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

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let request = Request::read(&options.path)?;
    let packages = parse(&request.lock)?;
    let registry = Registry::of_this_machine();
    let audited: Vec<_> = packages.iter().cloned().map(|package| registry.inspect(package)).collect();
    let report = write_report(&request.title, &audited, &find_duplicates(&packages), &count_licences(&audited));
    print!("{}", report.summary);
    std::fs::write(options.out, report.page)?;
    Ok(())
}
