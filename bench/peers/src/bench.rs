//! What every peer is asked to do.

use std::{ops::Range, sync::Arc, time::Duration};

use sqlx::{Connection, PgConnection};
use tokio::sync::{Mutex, watch};

/// Runs, or elements, that are started in one call.
pub(crate) const BATCH: usize = 500;

/// Handlers that may run at once, where a peer has such a number.
pub(crate) const CONCURRENCY: usize = 100;

/// Steps of a chain.
pub(crate) const CHAIN_STEPS: u32 = 3;

/// One kind of work.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Case {
    /// Many runs of one step.
    Single,
    /// Many runs of three steps in a row.
    Chain,
    /// One run that fans out and joins to one result.
    Map,
    /// Chains one after another on an idle system.
    Latency,
}

impl Case {
    /// All, in the order of the report.
    pub(crate) const ALL: [Case; 4] = [Case::Single, Case::Chain, Case::Map, Case::Latency];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Case::Single => "single",
            Case::Chain => "chain",
            Case::Map => "map",
            Case::Latency => "latency",
        }
    }

    /// Runs of the full measurement and of the quick one; for a map, its elements.
    pub(crate) fn size(self, is_quick: bool) -> u32 {
        let (full, quick) = match self {
            Case::Single => (20_000, 1_000),
            Case::Chain => (3_000, 150),
            Case::Map => (10_000, 500),
            Case::Latency => (200, 10),
        };
        if is_quick { quick } else { full }
    }

    /// Steps of one run; for a map, of one element.
    pub(crate) fn steps_a_run(self) -> u32 {
        match self {
            Case::Single | Case::Map => 1,
            Case::Chain | Case::Latency => CHAIN_STEPS,
        }
    }
}

/// One way to do the cases.
pub(crate) trait Peer: Sized {
    /// How it is set up, for the report.
    const SETTINGS: &'static str;

    /// Makes its tables in the empty database and starts its workers for the case.
    async fn open(bench: &Bench) -> anyhow::Result<Self>;

    /// Does `size` runs, or one map over `size` elements, and returns when Postgres holds that all of it is done.
    async fn run(&mut self, size: u32) -> anyhow::Result<()>;

    /// Does one chain and returns when Postgres holds that it is done.
    async fn run_one(&mut self) -> anyhow::Result<()>;
}

/// What a peer is given.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) url: String,
    pub(crate) case: Case,
    /// Reported by the last handler of a run, or by the peer's own hook.
    pub(crate) ended: Ended,
    watcher: Arc<Mutex<PgConnection>>,
}

impl Bench {
    pub(crate) async fn new(url: &str, case: Case) -> anyhow::Result<Self> {
        let watcher = Arc::new(Mutex::new(PgConnection::connect(url).await?));
        Ok(Self { url: url.to_owned(), case, ended: Ended::default(), watcher })
    }

    /// Asks `is_settled`, a query of one boolean, every `interval` until it says true. In one transaction, which at this
    /// level of isolation sees what others commit, so that asking adds one commit to those that are counted.
    pub(crate) async fn settle(&self, is_settled: &'static str, interval: Duration) -> anyhow::Result<()> {
        let mut watcher = self.watcher.lock().await;
        let mut transaction = watcher.begin().await?;
        while !sqlx::query_scalar::<_, bool>(is_settled).fetch_one(&mut *transaction).await? {
            tokio::time::sleep(interval).await;
        }
        Ok(transaction.commit().await?)
    }
}

/// How many runs have ended.
#[derive(Clone)]
pub(crate) struct Ended(Arc<watch::Sender<u64>>);

impl Default for Ended {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Ended {
    pub(crate) fn report(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    pub(crate) fn count(&self) -> u64 {
        *self.0.borrow()
    }

    /// Waits until `target` runs have ended.
    pub(crate) async fn reach(&self, target: u64) {
        // The sender lives as long as this.
        let _ = self.0.subscribe().wait_for(|count| *count >= target).await;
    }
}

/// The inputs `0..size` in batches.
pub(crate) fn batches(size: u32) -> impl Iterator<Item = Range<u32>> {
    (0..size).step_by(BATCH).map(move |from| from..size.min(from + BATCH as u32))
}
