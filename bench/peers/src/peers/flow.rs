//! `flow` itself: one worker with everything at its defaults, and two such workers.

use std::{convert::Infallible, time::Duration};

use flow_runtime::{RunningWorker, prelude::*};

use crate::bench::{BATCH, Bench, Case, Ended, Peer};

struct Single(Ended);

#[flow(input = u32)]
impl Single {
    #[step]
    async fn only(&self, input: u32) -> Result<u32, Infallible> {
        self.0.report();
        Ok(input)
    }
}

struct Chain(Ended);

#[flow(input = u32)]
impl Chain {
    #[step]
    async fn first(&self, input: u32) -> Result<u32, Infallible> {
        Ok(input)
    }

    #[step]
    async fn second(&self, first: u32) -> Result<u32, Infallible> {
        Ok(first)
    }

    #[step]
    async fn third(&self, second: u32) -> Result<u32, Infallible> {
        self.0.report();
        Ok(second)
    }
}

struct Map(Ended);

#[flow(input = Vec<u32>)]
impl Map {
    #[map(over = input)]
    async fn each(&self, item: u32) -> Result<u32, Infallible> {
        self.0.report();
        Ok(item)
    }
}

/// `flow` and its running workers.
pub(crate) struct FlowPeer<const WORKERS: usize> {
    bench: Bench,
    client: Client,
    _workers: Vec<RunningWorker>,
}

impl<const WORKERS: usize> Peer for FlowPeer<WORKERS> {
    const SETTINGS: &'static str = match WORKERS {
        1 => "defaults: 1 worker, 100 slots, claims of up to 100, pool 10, LISTEN, poll 1 s",
        _ => "a worker a core: 2 workers, each at its defaults",
    };

    async fn open(bench: &Bench) -> anyhow::Result<Self> {
        let db = Db::new(&bench.url)?;
        db.migrate().await?;
        let mut workers = Vec::new();
        for _ in 0..WORKERS {
            let (worker, ended) = (Worker::builder(&db), bench.ended.clone());
            let worker = match bench.case {
                Case::Single => worker.flow(Single(ended)),
                Case::Chain | Case::Latency => worker.flow(Chain(ended)),
                Case::Map => worker.flow(Map(ended)),
            };
            workers.push(worker.build()?.start().await?);
        }
        Ok(Self { bench: bench.clone(), client: Client::new(&db), _workers: workers })
    }

    async fn run(&mut self, size: u32) -> anyhow::Result<()> {
        match self.bench.case {
            Case::Single => self.start_many::<Single>(size).await,
            Case::Chain | Case::Latency => self.start_many::<Chain>(size).await,
            Case::Map => {
                let output = self.client.start::<Map>(&(0..size).collect()).await?.wait().await?;
                anyhow::ensure!(output.each.len() == size as usize, "the map lost elements");
                Ok(())
            }
        }
    }

    async fn run_one(&mut self) -> anyhow::Result<()> {
        self.client.start::<Chain>(&0).await?.wait().await?;
        Ok(())
    }
}

impl<const WORKERS: usize> FlowPeer<WORKERS> {
    async fn start_many<F: Flow<Input = u32>>(&self, size: u32) -> anyhow::Result<()> {
        let target = self.bench.ended.count() + u64::from(size);
        for batch in (0..size).collect::<Vec<_>>().chunks(BATCH) {
            self.client.start_many::<F>(batch).await?;
        }
        self.bench.ended.reach(target).await;
        let is_settled = "select not exists (select from flow.run r where r.status = 'started')";
        self.bench.settle(is_settled, Duration::from_millis(5)).await
    }
}
