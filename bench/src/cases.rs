//! The cases by name.

mod contention;
pub(crate) mod history;
mod latency;
pub(crate) mod rate;
mod start;

use std::path::PathBuf;

use clap::Subcommand;

use crate::{bench::Bench, smoke};

/// Sizes of maps that `all` measures.
const MAPS: [u32; 4] = [100, 1_000, 10_000, 100_000];

/// What to measure.
#[derive(Subcommand)]
pub(crate) enum Case {
    /// Many runs of three steps in a row.
    Chain {
        #[arg(long, default_value_t = 5_000)]
        runs: u32,
        /// Workers at once, each with 100 slots.
        #[arg(long, default_value_t = 1)]
        workers: usize,
    },
    /// Many runs of one step, and what PGMQ alone takes for a message.
    Single {
        #[arg(long, default_value_t = 15_000)]
        runs: u32,
    },
    /// Many runs of a step, two beside each other, and one that joins them.
    Diamond {
        #[arg(long, default_value_t = 4_000)]
        runs: u32,
    },
    /// A map over so many elements, again and again until 10,000 tasks are done.
    Map {
        #[arg(default_value_t = 10_000)]
        items: u32,
    },
    /// Runs of a step, so many beside each other, and one that joins them.
    Wide {
        #[arg(long, default_value_t = 1_000)]
        ways: usize,
        #[arg(long, default_value_t = 10)]
        runs: usize,
    },
    /// A recorded scientific workflow (WfFormat 1.5) without its sleeps.
    Wfformat {
        /// The file.
        file: PathBuf,
    },
    /// Starting runs in batches of 1,000, with nobody working.
    Start {
        #[arg(long, default_value_t = 50_000)]
        runs: u32,
    },
    /// Runs of three steps, one after the other, on an idle system.
    Latency {
        #[arg(long, default_value_t = 500)]
        runs: u32,
    },
    /// Ten flows side by side, each with a worker in each of four sets.
    Mixed {
        /// Runs of each flow.
        #[arg(long, default_value_t = 500)]
        runs: usize,
    },
    /// The chain beside 0, 200,000 and 1,000,000 tasks that have ended.
    Growth,
    /// Claims with and without 100,000 delayed messages in front.
    Hidden,
    /// 1, 2, 4 and 8 workers, on one map and on many runs.
    Contention,
    /// The chain with outputs of 1 KB and 100 KB.
    Payload,
    /// Every case but `wfformat`, one after the other.
    All,
    /// Small sizes and wide margins: fails when a ratio is far off. For CI.
    Smoke,
}

impl Case {
    /// Measures it, a line each.
    pub(crate) async fn run(self, bench: &mut Bench) -> anyhow::Result<()> {
        match self {
            Self::Chain { runs, workers } => rate::chain(bench, runs, workers).await,
            Self::Single { runs } => rate::single(bench, runs).await,
            Self::Diamond { runs } => rate::diamond(bench, runs).await,
            Self::Map { items } => rate::map(bench, items).await,
            Self::Wide { ways, runs } => rate::wide(bench, ways, runs).await,
            Self::Wfformat { file } => rate::wfformat(bench, &file).await,
            Self::Start { runs } => start::start(bench, runs).await,
            Self::Latency { runs } => latency::latency(bench, runs).await,
            Self::Mixed { runs } => contention::mixed(bench, runs).await,
            Self::Growth => history::growth(bench).await,
            Self::Hidden => history::hidden(bench).await,
            Self::Contention => contention::contention(bench).await,
            Self::Payload => rate::payload(bench).await,
            Self::All => all(bench).await,
            Self::Smoke => smoke::smoke(bench).await,
        }
    }
}

/// Work that is not measured: a new server has its first log files to write, and everything is cold.
pub(crate) async fn warm_up(bench: &Bench) -> anyhow::Result<()> {
    let fresh = bench.fresh().await?;
    rate::chain_on(&fresh, 5_000, 1).await?;
    Ok(())
}

async fn all(bench: &mut Bench) -> anyhow::Result<()> {
    rate::chain(bench, 5_000, 1).await?;
    rate::single(bench, 15_000).await?;
    rate::diamond(bench, 4_000).await?;
    for items in MAPS {
        rate::map(bench, items).await?;
    }
    rate::wide(bench, 1_000, 10).await?;
    start::start(bench, 50_000).await?;
    latency::latency(bench, 500).await?;
    contention::mixed(bench, 500).await?;
    history::growth(bench).await?;
    history::hidden(bench).await?;
    contention::contention(bench).await?;
    rate::payload(bench).await
}
