//! Work for workers: runs are started while they work, and everything is waited for.

use std::time::Duration;

use flow_runtime::WorkerBuilder;
use sqlx::{Connection, PgConnection, types::Uuid};

use crate::{bench::Fresh, line::Line, meter::Done};

/// How many runs one call starts.
const RUNS_A_CALL: usize = 500;

/// Runs of one flow, to be started.
pub(crate) struct Starts {
    slug: String,
    /// JSON texts.
    inputs: Vec<String>,
}

impl Starts {
    /// A run for each number below `runs`.
    pub(crate) fn numbers(slug: &str, runs: u32) -> Self {
        Self { slug: slug.to_owned(), inputs: (0..runs).map(|n| n.to_string()).collect() }
    }

    /// Runs that all get the same input.
    pub(crate) fn same(slug: &str, runs: usize, input: &str) -> Self {
        Self { slug: slug.to_owned(), inputs: vec![input.to_owned(); runs] }
    }

    /// Runs that all get the numbers below `items`.
    pub(crate) fn maps(slug: &str, runs: usize, items: u32) -> anyhow::Result<Self> {
        Ok(Self::same(slug, runs, &serde_json::to_string(&(0..items).collect::<Vec<_>>())?))
    }

    async fn start(&self, connection: &mut PgConnection) -> sqlx::Result<Vec<Vec<Uuid>>> {
        let mut batches = Vec::new();
        for inputs in self.inputs.chunks(RUNS_A_CALL) {
            let start = sqlx::query_scalar("select flow.start_runs($1, $2)").bind(&self.slug).bind(inputs);
            batches.push(start.fetch_one(&mut *connection).await?);
        }
        Ok(batches)
    }
}

/// Starts the workers, then the runs, and waits until all have ended; measures from there to there.
pub(crate) async fn work(
    fresh: &Fresh,
    workers: Vec<WorkerBuilder>,
    starts: Vec<Starts>,
) -> anyhow::Result<(Line, Done)> {
    measure(fresh, workers, starts, false).await
}

/// The same, but starts a part only when the one before has ended.
pub(crate) async fn work_one_by_one(
    fresh: &Fresh,
    workers: Vec<WorkerBuilder>,
    starts: Vec<Starts>,
) -> anyhow::Result<(Line, Done)> {
    let (line, done) = measure(fresh, workers, starts, true).await?;
    Ok((line, Done { seconds: done.run_seconds, ..done }))
}

async fn measure(
    fresh: &Fresh,
    workers: Vec<WorkerBuilder>,
    starts: Vec<Starts>,
    one_by_one: bool,
) -> anyhow::Result<(Line, Done)> {
    let mut running = Vec::new();
    for worker in workers {
        running.push(worker.build()?.start().await?);
    }
    fresh
        .measure(async || {
            let mut connection = PgConnection::connect(fresh.url()).await?;
            for starts in starts.chunks(if one_by_one { 1 } else { starts.len() }) {
                let mut batches = Vec::new();
                for starts in starts {
                    batches.extend(starts.start(&mut connection).await?);
                }
                for runs in batches {
                    wait(&mut connection, runs).await?;
                }
            }
            connection.close().await?;
            for worker in running {
                worker.shutdown().await?;
            }
            Ok(())
        })
        .await
}

/// Waits until these runs have ended, by their keys alone: looking must not cost what is measured.
async fn wait(connection: &mut PgConnection, runs: Vec<Uuid>) -> sqlx::Result<()> {
    let are_over = "select not exists (select from flow.run r where r.run_id = any ($1) and r.status = 'started')";
    // The last one is likely the last to end; then all are looked at.
    let mut asked: Vec<Uuid> = runs.last().copied().into_iter().collect();
    loop {
        if !sqlx::query_scalar(are_over).bind(&asked).fetch_one(&mut *connection).await? {
            tokio::time::sleep(Duration::from_millis(10)).await;
        } else if asked == runs {
            return Ok(());
        } else {
            asked.clone_from(&runs);
        }
    }
}
