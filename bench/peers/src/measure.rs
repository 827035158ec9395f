//! Times one case of one peer.

use std::time::{Duration, Instant};

use crate::{
    bench::{Bench, Case, Peer},
    meter::Meter,
    report::Report,
};

/// Runs, or elements, before the clock starts, so that workers run and connections are open. Few, because their last
/// commits are counted with those of the case: a connection reports once a second.
const WARM_UP: u32 = 20;

/// The same for chains one after another.
const WARM_UP_CHAINS: u32 = 5;

/// A pause in which the connections report what opening has cost.
const QUIET: Duration = Duration::from_millis(1_200);

/// Longest time to open and warm up.
const OPEN_LIMIT: Duration = Duration::from_secs(60);

/// Opens the peer, warms it up, and measures one case within `limit`.
pub(crate) async fn measure<P: Peer>(
    name: &str,
    url: &str,
    case: Case,
    size: u32,
    limit: Duration,
) -> anyhow::Result<Report> {
    let bench = Bench::new(url, case).await?;
    let mut peer = tokio::time::timeout(OPEN_LIMIT, async {
        let mut peer = P::open(&bench).await?;
        tokio::time::sleep(QUIET).await;
        if case == Case::Latency {
            for _ in 0..WARM_UP_CHAINS {
                peer.run_one().await?;
            }
        } else {
            peer.run(WARM_UP).await?;
        }
        anyhow::Ok(peer)
    })
    .await??;
    let ended_before = bench.ended.count();
    let mut meter = Meter::begin(url).await?;
    let began = Instant::now();
    let mut latencies = Vec::new();
    let work = async {
        if case != Case::Latency {
            return peer.run(size).await;
        }
        for _ in 0..size {
            let began = Instant::now();
            peer.run_one().await?;
            latencies.push(began.elapsed());
        }
        Ok(())
    };
    let outcome = tokio::time::timeout(limit, work).await;
    let seconds = began.elapsed().as_secs_f64();
    let note = match outcome {
        Ok(outcome) => outcome.map(|()| None)?,
        Err(_) => {
            let done = bench.ended.count() - ended_before;
            Some(format!("did not end in {} s: {done} of {size} done", limit.as_secs()))
        }
    };
    // A case that was cut short is a latency of what was seen, and no throughput.
    let runs = match case {
        Case::Latency => latencies.len() as u32,
        _ if note.is_some() => 0,
        _ => size,
    };
    let steps = f64::from(runs * case.steps_a_run());
    let per_step = |total: f64| (runs > 0).then(|| total / steps);
    let usage = meter.end().await?;
    latencies.sort_unstable();
    Ok(Report {
        peer: name.to_owned(),
        case: case.name().to_owned(),
        size,
        seconds,
        steps_per_s: (runs > 0).then(|| steps / seconds),
        pg_cpu_us_per_step: usage.server_cpu_us.and_then(per_step),
        client_cpu_us_per_step: usage.client_cpu_us.and_then(per_step),
        wal_bytes_per_step: per_step(usage.wal_bytes),
        commits_per_step: per_step(usage.commits),
        p50_ms: percentile_ms(&latencies, 0.50),
        p99_ms: percentile_ms(&latencies, 0.99),
        settings: P::SETTINGS.to_owned(),
        note,
    })
}

/// The value below which `part` of the sorted samples lie.
fn percentile_ms(sorted: &[Duration], part: f64) -> Option<f64> {
    let index = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(index.saturating_sub(1)).map(|sample| sample.as_secs_f64() * 1e3)
}
