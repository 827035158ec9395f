//! What a queue and a pool for each step are good for: a flooded step does not keep another one waiting.
//!
//! Audits this project's lock file, with one slow step (a fetch, as from a slow mirror) and one quick step (a glance at the
//! manifest) side by side, and prints how long the quick step's tasks waited: with one pool a step, and with one plain queue.

use std::{path::Path, process::ExitCode, sync::Arc, time::Duration};

use clap::Parser;
use flow_examples::{
    lockfile_audit::{Audited, Package, Registry, Request, parse},
    progress,
};
use flow_runtime::{Pool, embedded, prelude::*, with_step_queues};
use sqlx::{Connection, PgConnection};

/// Compares the waiting time of a quick step beside a flooded slow one, with and without step queues.
#[derive(Parser)]
struct Options {
    /// How long one fetch takes, in milliseconds.
    #[arg(long, default_value_t = 250)]
    fetch_ms: u64,
    /// Slots of the slow step's pool.
    #[arg(long, default_value_t = 4)]
    fetch_slots: usize,
    /// Slots of the quick step's pool.
    #[arg(long, default_value_t = 8)]
    glance_slots: usize,
}

/// The audit; two slots beside the two pools serve the steps before and after.
pub(crate) struct PooledAudit {
    registry: Registry,
    fetch: Duration,
}

#[flow(input = Request)]
impl PooledAudit {
    /// Lists the packages.
    #[step]
    async fn parse(&self, input: Request) -> Result<Vec<Package>, StepError> {
        parse(&input.lock).permanent()
    }

    /// Takes as long as a slow mirror.
    #[map(over = parse)]
    async fn fetch(&self, item: Package) -> Result<String, StepError> {
        tokio::time::sleep(self.fetch).await;
        Ok(item.name)
    }

    /// Reads the manifest only.
    #[map(over = parse)]
    async fn glance(&self, item: Package) -> Result<Audited, StepError> {
        Ok(self.registry.glance(item))
    }

    /// Counts both.
    #[step]
    async fn report(&self, fetch: Vec<String>, glance: Vec<Audited>) -> Result<usize, StepError> {
        Ok(fetch.len().min(glance.len()))
    }
}

with_step_queues!(pub(crate) PooledAuditQueues for PooledAudit);

#[tokio::main]
async fn main() -> ExitCode {
    progress::show_log();
    match compare(&Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn compare(options: &Options) -> anyhow::Result<()> {
    let request = Request::read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock")))?;
    let flow =
        Arc::new(PooledAudit { registry: Registry::of_this_machine(), fetch: Duration::from_millis(options.fetch_ms) });
    let (slow, quick) = (options.fetch_slots, options.glance_slots);
    let all = slow + quick + 2;

    // A flow is plain or has step queues, for life: the two ways get a database each.
    let plain = embedded::open("plain_queue").await?;
    let queued = embedded::open("step_queues").await?;
    eprintln!("{}", queued.describe());
    println!("one fetch takes {} ms; the quick step's tasks waited:", options.fetch_ms);
    println!("{:<42} {:>9} {:>9} {:>9}", "", "tasks", "p50 ms", "p99 ms");

    let db = Db::embedded(&queued).await?;
    let set = WorkerSet::builder(&db).pools(PooledAuditQueues::new(Arc::clone(&flow)), |step| match step {
        PooledAuditStep::Fetch => Pool::slots(slow),
        PooledAuditStep::Glance => Pool::slots(quick),
        PooledAuditStep::Parse | PooledAuditStep::Report => Pool::slots(1),
    });
    let set = set.build()?.start().await?;
    let with_pools = audit(&db, queued.url(), &request).await?;
    set.shutdown().await?;
    print_row(&format!("a pool a step: {slow} slow, {quick} quick, 2 more slots"), &with_pools);

    let db = Db::embedded(&plain).await?;
    let mut equal = None;
    for slots in [all, 4 * all] {
        let worker = Worker::builder(&db).flow(Arc::clone(&flow)).concurrency(slots).build()?.start().await?;
        let waits = audit(&db, plain.url(), &request).await?;
        worker.shutdown().await?;
        print_row(&format!("one plain queue: {slots} slots"), &waits);
        equal.get_or_insert(waits);
    }
    let equal = equal.map_or(0.0, |waits| waits.p99_ms);
    println!("p99 ratio {:.1}x", equal / with_pools.p99_ms.max(0.001));
    Ok(())
}

/// How long the quick step's tasks of one run waited between being queued and being started.
struct Waits {
    tasks: i64,
    p50_ms: f64,
    p99_ms: f64,
}

/// Runs one audit to its end and reads the waits from the database.
async fn audit(db: &Db, url: &str, request: &Request) -> anyhow::Result<Waits> {
    let run = Client::new(db).start::<PooledAudit>(request).await?;
    progress::wait(&run, run.wait()).await?;
    let mut connection = PgConnection::connect(url).await?;
    let (tasks, p50_ms, p99_ms) = sqlx::query_as(
        "select count(*), percentile_cont(0.5) within group (order by w.ms)::float8,
                percentile_cont(0.99) within group (order by w.ms)::float8
         from (select extract(epoch from t.started_at - t.queued_at) * 1000 as ms from flow.tasks t
               where t.run_id = $1 and t.step = 'glance') w",
    )
    .bind(run.id())
    .fetch_one(&mut connection)
    .await?;
    connection.close().await?;
    Ok(Waits { tasks, p50_ms, p99_ms })
}

fn print_row(what: &str, waits: &Waits) {
    println!("{what:<42} {:>9} {:>9.1} {:>9.1}", waits.tasks, waits.p50_ms, waits.p99_ms);
}
