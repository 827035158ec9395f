//! `underway`: tasks, and jobs of steps in a row, each step added in the transaction that completes the one before.

use std::{sync::Arc, time::Duration};

use sqlx08::{PgPool, Postgres, Transaction, postgres::PgPoolOptions};
use underway::{Job, Queue, Task, To, Worker, task};

use crate::bench::{Bench, CONCURRENCY, Case, Ended, Peer, batches};

const IS_SETTLED: &str = "select not exists (select from underway.task t where t.state <> 'succeeded')";

/// Connections: a task in work holds one, and takes a second one to claim and to settle.
const POOL: u32 = 40;

/// A task without steps.
#[derive(Clone)]
struct Single(Ended);

impl Task for Single {
    type Input = u32;
    type Output = ();

    async fn execute(&self, _: Transaction<'_, Postgres>, _: u32) -> task::Result<()> {
        self.0.report();
        Ok(())
    }
}

/// What runs are added to.
pub(crate) struct UnderwayPeer {
    bench: Bench,
    pool: PgPool,
    work: Work,
}

enum Work {
    Single(Arc<Queue<Single>>, Single),
    Chain(Job<u32, Ended>),
}

impl Peer for UnderwayPeer {
    const SETTINGS: &'static str = "20 tasks at once (default: one a core), LISTEN, poll 1 min, pool 40";

    async fn open(bench: &Bench) -> anyhow::Result<Self> {
        let pool = PgPoolOptions::new().max_connections(POOL).connect(&bench.url).await?;
        underway::run_migrations(&pool).await?;
        let ended = bench.ended.clone();
        let work = if bench.case == Case::Single {
            let queue: Arc<Queue<Single>> = Arc::new(Queue::builder().name("single").pool(pool.clone()).build().await?);
            spawn(Worker::new(queue.clone(), Single(ended.clone())));
            Work::Single(queue, Single(ended))
        } else {
            let chain = Job::builder()
                .state(ended)
                .step(|_, input: u32| async move { To::next(input) })
                .step(|_, input: u32| async move { To::next(input) })
                .step(|context, _: u32| async move {
                    context.state.report();
                    To::done()
                });
            let chain = chain.name("chain").pool(pool.clone()).build().await?;
            spawn(chain.worker());
            Work::Chain(chain)
        };
        Ok(Self { bench: bench.clone(), pool, work })
    }

    async fn run(&mut self, size: u32) -> anyhow::Result<()> {
        let target = self.bench.ended.count() + u64::from(size);
        for batch in batches(size) {
            match &self.work {
                Work::Single(queue, task) => {
                    queue.enqueue_multi(&self.pool, task, &batch.collect::<Vec<_>>()).await?;
                }
                Work::Chain(job) => {
                    let mut transaction = self.pool.begin().await?;
                    for input in batch {
                        job.enqueue_using(&mut *transaction, &input).await?;
                    }
                    transaction.commit().await?;
                }
            }
        }
        self.bench.ended.reach(target).await;
        self.bench.settle(IS_SETTLED, Duration::from_millis(5)).await
    }

    async fn run_one(&mut self) -> anyhow::Result<()> {
        let target = self.bench.ended.count() + 1;
        if let Work::Chain(job) = &self.work {
            job.enqueue(&0).await?;
        }
        self.bench.ended.reach(target).await;
        self.bench.settle(IS_SETTLED, Duration::from_millis(1)).await
    }
}

fn spawn<T: Task + Sync + 'static>(mut worker: Worker<T>) {
    worker.set_concurrency_limit(CONCURRENCY / 5);
    tokio::spawn(async move { worker.run().await });
}
