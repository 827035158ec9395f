//! A worker or a client in a process of its own. Tests start several, watch what they print, and kill them.
//!
//! `flow_process worker URL LEASE_MS` works on `Orders` until SIGTERM, `survivor`, `tick`, `watchful` and `successor` likewise on `Survivor`,
//! `Tick`, `Watchful` (one at a time) and `Successor`; `holder` takes ten thousand pieces of `Pieces` and ends none, `pieces URL LEASE_MS
//! FILE` works on them and on `Tick`;
//! `flow_process step URL LEASE_MS STEP` serves one step of `Relay`; `flow_process ten URL` runs a worker for each of ten flows,
//! which nothing but notifications wakes; `flow_process client URL PICK_MS ITEM…` starts one run, waits for it and prints its
//! output; `flow_process starter URL LEASE_MS RUNS` starts runs of `Tick` beside its worker, one after the other; `flow_process migrate URL` migrates and ends.

use std::{process::ExitCode, time::Duration};

use flow_runtime::{FlowBuilder, JsonFlow, JsonHandler, StepBuilder, prelude::*};
use flow_tests::flows::{Order, Orders, Pieces, Relay, RelayQueues, RelayStep, Successor, Survivor, Tick, Watchful};

#[tokio::main]
async fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Vec<String>) -> anyhow::Result<()> {
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [flow @ ("worker" | "survivor" | "tick" | "watchful" | "successor" | "holder"), url, lease_ms] => {
            let db = Db::new(url)?;
            let worker = match flow {
                "worker" => Worker::builder(&db).flow(Orders { announce: true }),
                "tick" => Worker::builder(&db).flow(Tick),
                "watchful" => Worker::builder(&db).flow(Watchful).concurrency(1),
                "successor" => Worker::builder(&db).flow(Successor { db: db.clone() }),
                "holder" => Worker::builder(&db).flow(Pieces { calls: None }).concurrency(10_000).batch(1_000),
                _ => Worker::builder(&db).flow(Survivor).concurrency(20),
            };
            let worker = worker
                .lease(Duration::from_millis(lease_ms.parse()?))
                .poll_interval(Duration::from_millis(200))
                .build()?;
            println!("starting");
            Ok(worker.run().await?)
        }
        ["pieces", url, lease_ms, calls] => {
            let (db, lease) = (Db::new(url)?, Duration::from_millis(lease_ms.parse()?));
            let pieces = Worker::builder(&db).flow(Pieces { calls: Some(calls.into()) }).concurrency(200).lease(lease);
            let ticks = Worker::builder(&db).flow(Tick).lease(lease);
            Ok(WorkerSet::builder(&db).worker(pieces).worker(ticks).build()?.run().await?)
        }
        ["step", url, lease_ms, step] => {
            let step = match step {
                "double" => RelayStep::Double,
                _ => RelayStep::Add,
            };
            let lease = Duration::from_millis(lease_ms.parse()?);
            let worker = Worker::builder(&Db::new(url)?).step(RelayQueues::new(Relay), step).lease(lease);
            Ok(worker.poll_interval(Duration::from_millis(200)).build()?.run().await?)
        }
        ["ten", url] => {
            let db = Db::new(url)?;
            let mut set = WorkerSet::builder(&db);
            for number in 0..10 {
                let graph = FlowBuilder::new(format!("ten_{number}")).step(StepBuilder::single("only"));
                let pass_on = JsonHandler::new(async |call| Ok(call.input().clone()));
                let worker = Worker::builder(&db).json(JsonFlow::builder(graph).handler("only", pass_on).build()?);
                set = set.worker(worker.poll_interval(Duration::from_secs(600)));
            }
            Ok(set.build()?.run().await?)
        }
        ["starter", url, lease_ms, runs] => {
            let db = Db::new(url)?;
            let worker = Worker::builder(&db).flow(Tick).lease(Duration::from_millis(lease_ms.parse()?)).build()?;
            let (worker, client) = (worker.start().await?, Client::new(&db));
            for number in 0..runs.parse()? {
                client.start::<Tick>(&number).await?.wait().await?;
            }
            Ok(worker.shutdown().await?)
        }
        ["migrate", url] => Ok(Db::new(url)?.migrate().await?),
        ["client", url, pick_ms, ref items @ ..] => {
            let client = Client::connect(url).await?;
            let items = items.iter().map(ToString::to_string).collect();
            let run = client.start::<Orders>(&Order { items, pick_ms: pick_ms.parse()? }).await?;
            println!("{}", run.id());
            println!("{}", run.wait().await?.ship);
            Ok(())
        }
        _ => anyhow::bail!(
            "say what to be: worker URL LEASE_MS, pieces URL LEASE_MS FILE, step URL LEASE_MS STEP, ten URL, client URL PICK_MS ITEM…, starter URL LEASE_MS RUNS or migrate URL"
        ),
    }
}
