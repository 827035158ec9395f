//! `graphile_worker`: a job queue. A chain is a job that adds the next one.

use std::time::Duration;

use graphile_worker::{
    IntoTaskHandlerResult, JobComplete, JobSpec, LocalQueueConfig, TaskHandler, WorkerContext, WorkerContextExt,
    WorkerOptions, WorkerUtils,
};
use serde::{Deserialize, Serialize};

use crate::bench::{Bench, CHAIN_STEPS, CONCURRENCY, Case, Peer, batches};

const IS_SETTLED: &str = "select not exists (select from graphile_worker._private_jobs)";

/// One step of a run, of which `after` are still to come.
#[derive(Clone, Serialize, Deserialize)]
struct Step {
    input: u32,
    after: u32,
}

impl TaskHandler for Step {
    const IDENTIFIER: &'static str = "step";

    async fn run(self, context: WorkerContext) -> impl IntoTaskHandlerResult {
        if self.after == 0 {
            return Ok(());
        }
        let next = Step { input: self.input, after: self.after - 1 };
        context.add_job(next, JobSpec::default()).await.map(drop).map_err(|error| error.to_string())
    }
}

/// Where jobs are added.
pub(crate) struct GraphilePeer {
    bench: Bench,
    utils: WorkerUtils,
    after: u32,
}

impl Peer for GraphilePeer {
    const SETTINGS: &'static str = "100 jobs at once, local queue 500, completions batched for 5 ms (latency: at once), \
                                    LISTEN and poll 500 ms, pool 20";

    async fn open(bench: &Bench) -> anyhow::Result<Self> {
        let ended = bench.ended.clone();
        let mut options = WorkerOptions::default()
            .database_url(&bench.url)
            .max_pg_conn(20)
            .concurrency(CONCURRENCY)
            .poll_interval(Duration::from_millis(500))
            .local_queue(LocalQueueConfig::default().with_size(500))
            .define_job::<Step>()
            .on(JobComplete, move |done| {
                if done.job.payload().get("after").is_some_and(|after| *after == 0) {
                    ended.report();
                }
                std::future::ready(())
            });
        if bench.case != Case::Latency {
            options = options
                .complete_job_batch_delay(Duration::from_millis(5))
                .fail_job_batch_delay(Duration::from_millis(5));
        }
        let worker = options.init().await?;
        let utils = worker.create_utils();
        tokio::spawn(async move { worker.run().await });
        let after = if bench.case == Case::Single { 0 } else { CHAIN_STEPS - 1 };
        Ok(Self { bench: bench.clone(), utils, after })
    }

    async fn run(&mut self, size: u32) -> anyhow::Result<()> {
        let target = self.bench.ended.count() + u64::from(size);
        let spec = JobSpec::default();
        for batch in batches(size) {
            let jobs: Vec<_> = batch.map(|input| (Step { input, after: self.after }, &spec)).collect();
            self.utils.add_jobs::<Step>(&jobs).await?;
        }
        self.bench.ended.reach(target).await;
        self.bench.settle(IS_SETTLED, Duration::from_millis(5)).await
    }

    async fn run_one(&mut self) -> anyhow::Result<()> {
        let target = self.bench.ended.count() + 1;
        self.utils.add_job(Step { input: 0, after: self.after }, JobSpec::default()).await?;
        self.bench.ended.reach(target).await;
        self.bench.settle(IS_SETTLED, Duration::from_millis(1)).await
    }
}
