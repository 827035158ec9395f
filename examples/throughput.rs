//! How fast is it here? Runs no-op steps and prints one JSON line.
//!
//! `cargo run --release --example throughput -- chain --runs 5000`
//! `cargo run --release --example throughput -- map --items 10000`

use std::{convert::Infallible, time::Duration};

use clap::{Parser, Subcommand};
use flow_runtime::{embedded, prelude::*};
use serde_json::json;
use sqlx::{Connection, PgConnection};

/// How many steps or tasks a second the engine does on this machine, with handlers that do nothing.
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    case: Case,
    /// Workers at once, each with 100 slots.
    #[arg(long, global = true, default_value_t = 1)]
    workers: usize,
}

#[derive(Subcommand)]
enum Case {
    /// Many runs of three steps in a row.
    Chain {
        /// How many runs.
        #[arg(long, default_value_t = 5_000)]
        runs: usize,
    },
    /// One run of a map.
    Map {
        /// How many elements.
        #[arg(long, default_value_t = 10_000)]
        items: u32,
    },
}

struct ThroughputChain;

#[flow(input = u32)]
impl ThroughputChain {
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
        Ok(second)
    }
}

struct ThroughputMap;

#[flow(input = Vec<u32>)]
impl ThroughputMap {
    #[map(over = input)]
    async fn each(&self, item: u32) -> Result<u32, Infallible> {
        Ok(item)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let server = embedded::open("flow_throughput").await?;
    eprintln!("{}", server.describe());
    let db = Db::new(server.url())?;
    db.migrate().await?;
    let client = Client::new(&db);
    let mut meter = Meter::new(server.url()).await?;

    let mut workers = Vec::new();
    for _ in 0..args.workers {
        workers.push(match args.case {
            Case::Chain { .. } => Worker::builder(&db).flow(ThroughputChain).build()?.start().await?,
            Case::Map { .. } => Worker::builder(&db).flow(ThroughputMap).build()?.start().await?,
        });
    }
    meter.begin().await?;
    match args.case {
        Case::Chain { runs } => {
            let inputs: Vec<u32> = (0..).take(runs).collect();
            let mut handles = Vec::new();
            for batch in inputs.chunks(500) {
                handles.extend(client.start_many::<ThroughputChain>(batch).await?);
            }
            // Waiting for each would be most of the statements; the last ones started are the last ones to end.
            for handle in handles.into_iter().rev().take(100) {
                handle.wait().await?;
            }
            meter.wait_for_all().await?;
        }
        Case::Map { items } => {
            let output = client.start::<ThroughputMap>(&(0..items).collect()).await?.wait().await?;
            anyhow::ensure!(output.each.len() == items as usize, "the map lost elements");
        }
    }
    for worker in workers {
        worker.shutdown().await?;
    }
    println!("{}", meter.end(&args.case).await?);
    Ok(())
}

/// Reads the server's own counters before and after.
struct Meter {
    connection: PgConnection,
    began: Counters,
    began_at: String,
}

#[derive(Default)]
struct Counters {
    commits: i64,
    /// Microseconds of CPU of the server's processes; `None` where /proc does not show them.
    cpu_us: Option<f64>,
}

impl Meter {
    async fn new(url: &str) -> anyhow::Result<Self> {
        let connection = PgConnection::connect(url).await?;
        Ok(Self { connection, began: Counters::default(), began_at: String::new() })
    }

    async fn begin(&mut self) -> anyhow::Result<()> {
        self.began = self.counters().await?;
        self.began_at = sqlx::query_scalar("select clock_timestamp()::text").fetch_one(&mut self.connection).await?;
        Ok(())
    }

    /// Waits until no run is left.
    async fn wait_for_all(&mut self) -> anyhow::Result<()> {
        while sqlx::query_scalar("select exists (select from flow.run r where r.status = 'started')")
            .fetch_one(&mut self.connection)
            .await?
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn end(&mut self, case: &Case) -> anyhow::Result<serde_json::Value> {
        // The workers' connections report their counters when they close, a moment after this process has left them.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let ended = self.counters().await?;
        let (name, size, rate_name) = match *case {
            Case::Chain { runs } => ("chain", runs, "steps_per_s"),
            Case::Map { items } => ("map", items as usize, "tasks_per_s"),
        };
        let (tasks, seconds): (i64, f64) = sqlx::query_as(
            "select coalesce(sum(r.tasks), 0)::bigint,
                    coalesce(extract(epoch from max(r.ended_at) - min(r.started_at)), 0)::float8
             from (select r.started_at, r.ended_at,
                          (select sum(ss.task_count) from flow.step_state ss
                           where ss.run_id = r.run_id and ss.status = 'completed') as tasks
                   from flow.run r where r.started_at >= $1::timestamptz) r",
        )
        .bind(&self.began_at)
        .fetch_one(&mut self.connection)
        .await?;
        let (fsync, synchronous_commit): (String, String) =
            sqlx::query_as("select current_setting('fsync'), current_setting('synchronous_commit')")
                .fetch_one(&mut self.connection)
                .await?;
        let per_task = |total: f64| (total / tasks as f64 * 1000.0).round() / 1000.0;
        let cpu_us = ended.cpu_us.zip(self.began.cpu_us).map(|(ended, began)| per_task(ended - began));
        Ok(json!({
            "case": name,
            "size": size,
            rate_name: (tasks as f64 / seconds).round(),
            "pg_cpu_us_per_step": cpu_us,
            "statements_per_step": per_task((ended.commits - self.began.commits) as f64),
            "fsync": fsync,
            "synchronous_commit": synchronous_commit,
        }))
    }

    async fn counters(&mut self) -> anyhow::Result<Counters> {
        let commits =
            sqlx::query_scalar("select d.xact_commit from pg_stat_database d where d.datname = current_database()")
                .fetch_one(&mut self.connection)
                .await?;
        let own: i32 = sqlx::query_scalar("select pg_backend_pid()").fetch_one(&mut self.connection).await?;
        Ok(Counters { commits, cpu_us: server_cpu_us(own) })
    }
}

/// The CPU time of all processes of the server that `backend` belongs to, those that have ended included.
fn server_cpu_us(backend: i32) -> Option<f64> {
    let postmaster = stat_field(&std::fs::read_to_string(format!("/proc/{backend}/stat")).ok()?, 3)? as i32;
    let mut ticks = 0.0;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        if stat_field(&stat, 3) == Some(f64::from(postmaster)) {
            ticks += stat_field(&stat, 13)? + stat_field(&stat, 14)?;
        }
    }
    // Children that have ended are summed up in the postmaster's own line.
    let postmaster = std::fs::read_to_string(format!("/proc/{postmaster}/stat")).ok()?;
    ticks += stat_field(&postmaster, 15)? + stat_field(&postmaster, 16)?;
    const MICROSECONDS_A_TICK: f64 = 10_000.0; // Linux shows 100 ticks a second on every common machine.
    Some(ticks * MICROSECONDS_A_TICK)
}

/// Field `index` of a line of /proc/PID/stat, counted from 0; the name in field 1 may hold spaces.
fn stat_field(stat: &str, index: usize) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(index - 2)?.parse().ok()
}
