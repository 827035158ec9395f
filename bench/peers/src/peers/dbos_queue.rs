//! `dbos`, workflows that a worker takes from a queue: the way its guide gives for many tasks and for fan-out.

use std::time::Duration;

use dbos::{DBOS, Enqueue, QueueConflict, QueueOptions, StartOptions, WorkflowRef};
use futures::{StreamExt, TryStreamExt, stream};

use super::dbos::{POLL, chain, new_dbos, single};
use crate::bench::{Bench, CONCURRENCY, Case, Peer};

const QUEUE: &str = "bench";

/// A queue is looked at once a second at first, and each pause is a tenth shorter than the last, down to its own: 9 s.
const SETTLING: Duration = Duration::from_secs(10);

const IS_SETTLED: &str = "select not exists (select from dbos.workflow_status w where w.status <> 'SUCCESS')";

/// `dbos` with the workflow of the case and a queue.
pub(crate) struct DbosQueuePeer {
    bench: Bench,
    _dbos: DBOS,
    one: WorkflowRef<u32, u32>,
    map: WorkflowRef<u32, u32>,
}

impl Peer for DbosQueuePeer {
    const SETTINGS: &'static str =
        "queue without a limit, poll 100 ms (default 1 s), 100 starts at once, pool 20 (its example; default 10)";

    async fn open(bench: &Bench) -> anyhow::Result<Self> {
        let dbos = new_dbos(bench);
        let ended = bench.ended.clone();
        let is_chain = matches!(bench.case, Case::Chain | Case::Latency);
        let one = dbos.register_workflow("one", move |input| {
            let ended = ended.clone();
            async move {
                let output = if is_chain { chain(input).await? } else { single(input).await? };
                ended.report();
                dbos::Result::Ok(output)
            }
        })?;
        let child = one.clone();
        let map = dbos.register_workflow("map", move |size| map(child.clone(), size))?;
        dbos.launch().await?;
        let options = QueueOptions { polling_interval: POLL, ..QueueOptions::default() };
        dbos.register_queue(QUEUE, options, QueueConflict::AlwaysUpdate).await?;
        tokio::time::sleep(SETTLING).await;
        Ok(Self { bench: bench.clone(), _dbos: dbos, one, map })
    }

    async fn run(&mut self, size: u32) -> anyhow::Result<()> {
        if self.bench.case == Case::Map {
            let joined = self.map.run(size).await?;
            anyhow::ensure!(joined == size, "the map lost elements");
            return Ok(());
        }
        let target = self.bench.ended.count() + u64::from(size);
        let one = &self.one;
        let starts = stream::iter(0..size).map(|input| async move {
            one.start_with(input, queued()).await?;
            anyhow::Ok(())
        });
        starts.buffer_unordered(CONCURRENCY).try_collect::<()>().await?;
        self.bench.ended.reach(target).await;
        self.bench.settle(IS_SETTLED, Duration::from_millis(5)).await
    }

    async fn run_one(&mut self) -> anyhow::Result<()> {
        let target = self.bench.ended.count() + 1;
        // Its handle would look every 100 ms; the last step and a look at the row are sooner.
        self.one.start_with(0, queued()).await?;
        self.bench.ended.reach(target).await;
        self.bench.settle(IS_SETTLED, Duration::from_millis(1)).await
    }
}

/// Children on the queue, joined in order.
async fn map(child: WorkflowRef<u32, u32>, size: u32) -> dbos::Result<u32> {
    let children = stream::iter(0..size).map(|item| child.start_with(item, queued()));
    let children: Vec<_> = children.buffered(CONCURRENCY).try_collect().await?;
    let results = stream::iter(children).map(|child| child.result());
    let joined: Vec<u32> = results.buffered(CONCURRENCY).try_collect().await?;
    Ok(joined.len() as u32)
}

fn queued() -> StartOptions<'static> {
    StartOptions { queue: Some(Enqueue::new(QUEUE)), ..StartOptions::default() }
}
