//! `dbos`, workflows that run in the process that starts them: the way its guide begins with.

use std::time::Duration;

use dbos::{Config, DBOS, WorkflowRef, step};
use futures::{StreamExt, TryStreamExt, stream};

use crate::bench::{Bench, CONCURRENCY, Case, Ended, Peer};

/// Connections of the pool.
const POOL: u32 = 20;

/// How often a queue is looked at, and a workflow on a queue that is waited for. Default 1 s; neither is ever woken.
pub(super) const POLL: Duration = Duration::from_millis(100);

/// `dbos` with the workflow of the case.
pub(crate) struct DbosPeer {
    case: Case,
    ended: Ended,
    _dbos: DBOS,
    one: WorkflowRef<u32, u32>,
    map: WorkflowRef<u32, u32>,
}

impl Peer for DbosPeer {
    const SETTINGS: &'static str = "in-process workflows, 100 at once, pool 20 (its example; default 10)";

    async fn open(bench: &Bench) -> anyhow::Result<Self> {
        let dbos = new_dbos(bench);
        let one = match bench.case {
            Case::Single | Case::Map => dbos.register_workflow("single", single)?,
            Case::Chain | Case::Latency => dbos.register_workflow("chain", chain)?,
        };
        let map = dbos.register_workflow("map", map)?;
        dbos.launch().await?;
        Ok(Self { case: bench.case, ended: bench.ended.clone(), _dbos: dbos, one, map })
    }

    async fn run(&mut self, size: u32) -> anyhow::Result<()> {
        if self.case == Case::Map {
            let joined = self.map.run(size).await?;
            anyhow::ensure!(joined == size, "the map lost elements");
            return Ok(());
        }
        let this = &*self;
        let runs = stream::iter(0..size).map(|input| async move {
            this.one.run(input).await?;
            this.ended.report();
            anyhow::Ok(())
        });
        runs.buffer_unordered(CONCURRENCY).try_collect().await
    }

    async fn run_one(&mut self) -> anyhow::Result<()> {
        self.one.run(0).await?;
        Ok(())
    }
}

pub(super) fn new_dbos(bench: &Bench) -> DBOS {
    DBOS::new(Config {
        app_version: Some("1".to_owned()),
        max_connections: POOL,
        outcome_poll_interval: Some(POLL),
        ..Config::new("bench-peers", &bench.url)
    })
}

/// A workflow of no steps: its input and its result are durable, as those of a run of one step are elsewhere.
pub(super) async fn single(input: u32) -> dbos::Result<u32> {
    Ok(input)
}

pub(super) async fn chain(input: u32) -> dbos::Result<u32> {
    let first = step("first", || async move { dbos::Result::Ok(input) }).await?;
    let second = step("second", || async move { dbos::Result::Ok(first) }).await?;
    step("third", || async move { dbos::Result::Ok(second) }).await
}

/// Steps of one workflow, up to 100 at once. Each takes its number when it is built, so the order is the same in a replay.
async fn map(size: u32) -> dbos::Result<u32> {
    let elements = stream::iter(0..size).map(|item| step("each", move || async move { dbos::Result::Ok(item) }));
    let joined: Vec<u32> = elements.buffered(CONCURRENCY).try_collect().await?;
    Ok(joined.len() as u32)
}
