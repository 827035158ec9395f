//! How fast is it here? Runs no-op steps on a Postgres with fsync on and prints one JSON line for each measurement.
//!
//! `cargo run --release -p flow-bench -- chain`
//! `cargo run --release -p flow-bench -- all --report target/bench`

mod bench;
mod cases;
mod flows;
mod line;
mod meter;
mod processes;
mod report;
mod smoke;
mod work;
mod yardstick;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

use crate::{bench::Bench, cases::Case};

/// How many steps or tasks a second the engine does on this machine, with handlers that do nothing.
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
    /// Write the measurements, a page with their table, and a plot for each case into this folder.
    #[arg(long, global = true, value_name = "FOLDER")]
    report: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Measure(Case),
    /// Write the page and the plots of a folder anew from its measurements; measures nothing.
    Page {
        /// The folder of an earlier `--report`.
        folder: PathBuf,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Args) -> anyhow::Result<()> {
    let case = match args.command {
        Command::Measure(case) => case,
        Command::Page { folder } => return report::write_again(&folder),
    };
    let mut bench = Bench::open().await?;
    cases::warm_up(&bench).await?;
    case.run(&mut bench).await?;
    match args.report {
        Some(folder) => report::write(&folder, bench.lines()),
        None => Ok(()),
    }
}
