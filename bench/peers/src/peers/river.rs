//! `riverqueue`: a job queue, the client of River for Rust. A chain is a job that inserts the next one.

use std::time::Duration;

use riverqueue::{
    BoxError, Client, Job, JobArgs, QueueConfig, WorkContext, WorkOutcome, Workers, migrate::PostgresMigrator,
};
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgPoolOptions;

use crate::bench::{Bench, CHAIN_STEPS, CONCURRENCY, Case, Peer, batches};

const IS_SETTLED: &str = "select not exists (select from river_job j where j.state <> 'completed')";

/// One step of a run, of which `after` are still to come.
#[derive(Clone, Debug, Serialize, Deserialize, JobArgs)]
#[river(kind = "step")]
struct Step {
    input: u32,
    after: u32,
}

/// Where jobs are inserted.
pub(crate) struct RiverPeer {
    bench: Bench,
    client: Client,
    after: u32,
}

impl Peer for RiverPeer {
    const SETTINGS: &'static str = "100 workers, fetch cooldown 2 ms, LISTEN and poll 20 ms, pool 20";

    async fn open(bench: &Bench) -> anyhow::Result<Self> {
        let pool = PgPoolOptions::new().max_connections(20).connect(&bench.url).await?;
        PostgresMigrator::new(pool.clone()).migrate_up().await?;
        let ended = bench.ended.clone();
        let mut workers = Workers::new();
        workers.add_fn(move |context: WorkContext, job: Job<Step>| {
            let ended = ended.clone();
            async move {
                if job.args.after == 0 {
                    ended.report();
                } else if let Some(client) = context.client() {
                    client.insert(Step { input: job.args.input, after: job.args.after - 1 }).await?;
                }
                Ok::<_, BoxError>(WorkOutcome::Complete)
            }
        })?;
        let queue = QueueConfig::new(CONCURRENCY).with_fetch_poll_interval(Duration::from_millis(20));
        let client = Client::builder(pool)
            .workers(workers)
            .fetch_cooldown(Duration::from_millis(2))
            .queue("default", queue)
            .build()?;
        client.start()?.detach();
        let after = if bench.case == Case::Single { 0 } else { CHAIN_STEPS - 1 };
        Ok(Self { bench: bench.clone(), client, after })
    }

    async fn run(&mut self, size: u32) -> anyhow::Result<()> {
        let target = self.bench.ended.count() + u64::from(size);
        for batch in batches(size) {
            self.client.insert_many(batch.map(|input| Step { input, after: self.after })).await?;
        }
        self.bench.ended.reach(target).await;
        self.bench.settle(IS_SETTLED, Duration::from_millis(5)).await
    }

    async fn run_one(&mut self) -> anyhow::Result<()> {
        let target = self.bench.ended.count() + 1;
        self.client.insert(Step { input: 0, after: self.after }).await?;
        self.bench.ended.reach(target).await;
        self.bench.settle(IS_SETTLED, Duration::from_millis(1)).await
    }
}
