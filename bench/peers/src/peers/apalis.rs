//! `apalis` 1.0 on `apalis-postgres`, with `apalis-workflow` for chains and maps.

use std::time::Duration;

use apalis::prelude::*;
use apalis_postgres::{Config, PgPool, PostgresStorage};
use apalis_workflow::SteppedFlow;
use sqlx::postgres::PgPoolOptions;

use crate::bench::{Bench, CONCURRENCY, Case, Ended, Peer, batches};

/// Workers of the one process. One worker claims and acknowledges in turn, so several overlap their round trips.
const WORKERS: usize = 4;

const POLL: Duration = Duration::from_millis(100);

const IS_SETTLED: &str = "select not exists (select from apalis.jobs j where j.status <> 'Done')";

/// Where jobs are pushed; the workers hold clones.
pub(crate) struct ApalisPeer {
    bench: Bench,
    jobs: PostgresStorage<u32>,
    maps: PostgresStorage<Vec<u32>>,
}

/// The backend of a worker: woken by NOTIFY, and by the clock.
macro_rules! listening {
    ($storage:expr) => {
        $storage.clone().with_pubsub().poll_with_interval(POLL)
    };
}

impl Peer for ApalisPeer {
    const SETTINGS: &'static str =
        "4 workers of 25 slots, claims of up to 100, tasks spawned, LISTEN and poll 100 ms, pool 20";

    async fn open(bench: &Bench) -> anyhow::Result<Self> {
        let pool: PgPool = PgPoolOptions::new().max_connections(20).connect(&bench.url).await?;
        PostgresStorage::setup(&pool).await?;
        let config = Config::default().queue(bench.case.name()).batch_size(100);
        let jobs = PostgresStorage::<u32>::new(&pool).with_config(config.clone());
        let maps = PostgresStorage::<Vec<u32>>::new(&pool).with_config(config);
        for worker in 0..WORKERS {
            let (name, ended) = (format!("worker-{worker}"), bench.ended.clone());
            match bench.case {
                Case::Single => {
                    let worker = WorkerBuilder::new(name).backend(listening!(jobs)).concurrency(CONCURRENCY / WORKERS);
                    let worker = worker.parallelize(tokio::spawn).data(ended).build(last);
                    tokio::spawn(worker.run());
                }
                Case::Chain | Case::Latency => {
                    let chain = SteppedFlow::new("chain").and_then(pass).and_then(pass).and_then(last);
                    let worker = WorkerBuilder::new(name).backend(listening!(jobs)).concurrency(CONCURRENCY / WORKERS);
                    let worker = worker.parallelize(tokio::spawn).data(ended).build(chain);
                    tokio::spawn(worker.run());
                }
                Case::Map => {
                    let map = SteppedFlow::new("map").filter_map(element).and_then(join);
                    let worker = WorkerBuilder::new(name).backend(listening!(maps)).concurrency(CONCURRENCY / WORKERS);
                    let worker = worker.parallelize(tokio::spawn).data(ended).build(map);
                    tokio::spawn(worker.run());
                }
            }
        }
        Ok(Self { bench: bench.clone(), jobs, maps })
    }

    async fn run(&mut self, size: u32) -> anyhow::Result<()> {
        let ended = self.bench.ended.count();
        if self.bench.case == Case::Map {
            self.maps.push((0..size).collect()).await?;
            self.bench.ended.reach(ended + 1).await;
        } else {
            for batch in batches(size) {
                self.jobs.push_bulk(batch.collect()).await?;
            }
            self.bench.ended.reach(ended + u64::from(size)).await;
        }
        self.bench.settle(IS_SETTLED, Duration::from_millis(5)).await
    }

    async fn run_one(&mut self) -> anyhow::Result<()> {
        let target = self.bench.ended.count() + 1;
        self.jobs.push(0).await?;
        self.bench.ended.reach(target).await;
        self.bench.settle(IS_SETTLED, Duration::from_millis(1)).await
    }
}

async fn pass(input: u32) -> Result<u32, BoxDynError> {
    Ok(input)
}

async fn last(input: u32, ended: Data<Ended>) -> Result<u32, BoxDynError> {
    ended.report();
    Ok(input)
}

async fn element(item: u32) -> Option<u32> {
    Some(item)
}

async fn join(elements: Vec<u32>, ended: Data<Ended>) -> Result<usize, BoxDynError> {
    ended.report();
    Ok(elements.len())
}
