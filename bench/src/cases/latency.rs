//! How long a run takes when nothing else goes on.

use std::time::Instant;

use flow_runtime::prelude::*;

use crate::{
    bench::Bench,
    flows::Chain,
    line::{Line, rounded},
};

/// Runs of three steps, one after the other: from the start until the caller has the output.
pub(crate) async fn latency(bench: &mut Bench, runs: u32) -> anyhow::Result<()> {
    let fresh = bench.fresh().await?;
    let worker = Worker::builder(fresh.db()).flow(Chain).build()?.start().await?;
    let client = Client::new(fresh.db());
    let mut times = Vec::new();
    let (line, _) = fresh
        .measure(async || {
            for n in 0..runs {
                let began_at = Instant::now();
                client.start::<Chain>(&n).await?.wait().await?;
                times.push(began_at.elapsed().as_secs_f64() * 1000.0);
            }
            worker.shutdown().await?;
            Ok(())
        })
        .await?;
    // The first ones connect and plan.
    let mut times = times.split_off(times.len() / 10);
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().map(rounded);
    bench.note(Line { case: "latency".into(), size: runs as usize, p50_ms: at(0.5), p99_ms: at(0.99), ..line })
}
