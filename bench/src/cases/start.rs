//! How fast runs can be started.

use flow_runtime::prelude::*;

use crate::{
    bench::Bench,
    flows::Chain,
    line::{Line, rounded},
};

/// Starts runs through the client in batches of 1,000; a worker only deploys the flow before.
pub(crate) async fn start(bench: &mut Bench, runs: u32) -> anyhow::Result<()> {
    let fresh = bench.fresh().await?;
    Worker::builder(fresh.db()).flow(Chain).build()?.start().await?.shutdown().await?;
    let client = Client::new(fresh.db());
    let inputs: Vec<u32> = (0..runs).collect();
    let mut seconds = 0.0;
    let (line, _) = fresh
        .measure(async || {
            let began_at = std::time::Instant::now();
            for inputs in inputs.chunks(1_000) {
                client.start_many::<Chain>(inputs).await?;
            }
            seconds = began_at.elapsed().as_secs_f64();
            Ok(())
        })
        .await?;
    // No step has ended, so what the line says of each step is the total; here it is shown for each run.
    let each = |total: Option<f64>| total.map(|total| rounded(total / f64::from(runs)));
    bench.note(Line {
        case: "start".into(),
        size: runs as usize,
        settings: "per run, not per step".to_owned(),
        runs_per_s: Some((f64::from(runs) / seconds).round()),
        pg_cpu_us_per_step: each(line.pg_cpu_us_per_step),
        client_cpu_us_per_step: each(line.client_cpu_us_per_step),
        statements_per_step: each(line.statements_per_step),
        commits_per_step: each(line.commits_per_step),
        wal_bytes_per_step: each(line.wal_bytes_per_step),
        bytes_per_task: None,
        ..line
    })
}
