//! Outages under a load of processes that write down what they do: nothing is lost, nothing hangs, nothing runs beside itself, and
//! work goes on by itself.
//!
//! The load goes on for two seconds before, during and after each outage, or for `FLOW_OUTAGE_SECONDS`; each outage happens once, or
//! `FLOW_OUTAGE_ROUNDS` times. Each prints its row of a table; docs/testing.md says how to see them.

mod connections;
mod failover;
mod frozen_process;
mod server;

use std::time::{Duration, Instant};

use flow_tests::outage::{Figures, Load, Plan};

/// The program of the load's processes.
const PROGRAM: &str = env!("CARGO_BIN_EXE_load_process");

/// Longer than every deadline of a program, one after the other.
const ALL_DEADLINES: Duration = Duration::from_secs(120);

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// How often an outage is tried.
fn rounds() -> u64 {
    number("FLOW_OUTAGE_ROUNDS").unwrap_or(1)
}

/// Lets the load work, or the outage last.
async fn a_while() {
    tokio::time::sleep(Duration::from_secs(number("FLOW_OUTAGE_SECONDS").unwrap_or(2))).await;
}

/// Starts a load of these processes, each with its address, and lets it work.
async fn start_load(workers: &[&str], clients: &[&str]) -> Load {
    let load = Load::start(&Plan { program: PROGRAM, workers, clients }).await;
    a_while().await;
    load
}

/// Waits until what was started after the outage began has ended, as far as it comes to that: the figures tell if not.
async fn recovery(load: &Load) {
    let began = Instant::now();
    while !load.has_recovered() && began.elapsed() < ALL_DEADLINES {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Lets the load recover and work, ends it, and prints its row: what it did, judged by the database at `url`.
async fn judge(outage: &str, load: &mut Load, url: &str) -> Figures {
    recovery(load).await;
    a_while().await;
    let figures = load.finish(url).await;
    println!("{}\n{}", Figures::HEAD, figures.row(outage));
    figures
}
