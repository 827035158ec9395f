//! `awa`: a job queue. A chain is jobs with follow-ups, each added in the transaction that completes the one before.

use std::time::Duration;

use awa::{
    Client, InsertOpts, InsertParams, JobArgs, JobEvent, JobResult, QueueConfig, QueueStorage, QueueStorageConfig,
};
use serde::{Deserialize, Serialize};
use sqlx08::{PgPool, postgres::PgPoolOptions};

use crate::bench::{Bench, CHAIN_STEPS, CONCURRENCY, Case, Peer, batches};

const QUEUE: &str = "default";

#[derive(Serialize, Deserialize, JobArgs)]
struct First {
    input: u32,
}

#[derive(Serialize, Deserialize, JobArgs)]
struct Second {
    input: u32,
}

#[derive(Serialize, Deserialize, JobArgs)]
struct Last {
    input: u32,
}

/// Where jobs are added.
pub(crate) struct AwaPeer {
    bench: Bench,
    pool: PgPool,
    store: QueueStorage,
    _client: Client,
    started: u64,
}

impl Peer for AwaPeer {
    const SETTINGS: &'static str =
        "its benchmark's: 100 workers, claims of up to 512, poll 50 ms, pool 20, no deadline in single; COPY of 500";

    async fn open(bench: &Bench) -> anyhow::Result<Self> {
        let pool = PgPoolOptions::new().max_connections(20).connect(&bench.url).await?;
        awa::migrations::run(&pool).await?;
        let mut queue = QueueConfig {
            max_workers: CONCURRENCY as u32,
            poll_interval: Duration::from_millis(50),
            ..QueueConfig::default()
        };
        if bench.case == Case::Single {
            // Its fast path. A job with a follow-up does not take it, and was slower without a deadline.
            queue.deadline_duration = Duration::ZERO;
        }
        let ended = bench.ended.clone();
        let mut client = Client::builder(pool.clone())
            .queue(QUEUE, queue)
            .register::<First, _, _>(|_, _| async { Ok(JobResult::Completed) })
            .register::<Second, _, _>(|_, _| async { Ok(JobResult::Completed) })
            .on_completed_enqueue::<First, Second, _>(|first, _| Second { input: first.input })
            .on_completed_enqueue::<Second, Last, _>(|second, _| Last { input: second.input });
        if bench.case == Case::Latency {
            // An event costs a query a job, and comes after the commit.
            client = client.register::<Last, _, _>(|_, _| async { Ok(JobResult::Completed) }).on_event::<Last, _, _>(
                move |event| {
                    if matches!(event, JobEvent::Completed { .. }) {
                        ended.report();
                    }
                    std::future::ready(())
                },
            );
        } else {
            client = client.register::<Last, _, _>(move |_, _| {
                ended.report();
                async { Ok(JobResult::Completed) }
            });
        }
        let client = client.build()?;
        client.start().await?;
        let store = QueueStorage::new(QueueStorageConfig::default())?;
        Ok(Self { bench: bench.clone(), pool, store, _client: client, started: 0 })
    }

    async fn run(&mut self, size: u32) -> anyhow::Result<()> {
        let target = self.bench.ended.count() + u64::from(size);
        for batch in batches(size) {
            let jobs = batch.map(|input| self.params(input)).collect::<anyhow::Result<Vec<_>>>()?;
            self.store.enqueue_params_copy(&self.pool, &jobs).await?;
        }
        self.bench.ended.reach(target).await;
        self.started += u64::from(size * self.bench.case.steps_a_run());
        while self.store.queue_counts(&self.pool, QUEUE).await?.terminal < self.started as i64 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }

    async fn run_one(&mut self) -> anyhow::Result<()> {
        let target = self.bench.ended.count() + 1;
        awa::insert(&self.pool, &First { input: 0 }).await?;
        self.bench.ended.reach(target).await;
        Ok(())
    }
}

impl AwaPeer {
    /// The job that a run begins with.
    fn params(&self, input: u32) -> anyhow::Result<InsertParams> {
        let options = InsertOpts { queue: QUEUE.to_owned(), ..InsertOpts::default() };
        Ok(match self.bench.case.steps_a_run() {
            CHAIN_STEPS => awa::model::insert::params_with(&First { input }, options)?,
            _ => awa::model::insert::params_with(&Last { input }, options)?,
        })
    }
}
