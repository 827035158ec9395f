//! Several workers on the same work, and several flows side by side.

use flow_runtime::prelude::*;

use crate::{
    bench::Bench,
    cases::rate::{map_on, steps, tasks},
    flows::{self, Map},
    line::Line,
    work::{Starts, work},
};

/// How many flows run side by side in `mixed`, and how many workers each has.
const FLOWS: usize = 10;
const WORKERS: usize = 4;

/// Ten flows, four workers each.
pub(crate) async fn mixed(bench: &mut Bench, runs: usize) -> anyhow::Result<()> {
    let fresh = bench.fresh().await?;
    let (mut workers, mut starts) = (Vec::new(), Vec::new());
    for at in 0..FLOWS {
        let flow = flows::mixed(at)?;
        let slug = flow.definition().shape.slug.clone();
        workers.extend((0..WORKERS).map(|_| Worker::builder(fresh.db()).json(flow.clone())));
        starts.push(Starts::maps(&slug, runs, 5)?);
    }
    let (line, done) = work(&fresh, workers, starts).await?;
    let settings = format!("flows {FLOWS}, workers {WORKERS} each");
    bench.note(Line { case: "mixed".into(), size: runs * FLOWS, settings, ..steps(line, done) })
}

/// 1, 2, 4 and 8 workers on one map of 10,000, and on 200 runs of a map of 50.
pub(crate) async fn contention(bench: &mut Bench) -> anyhow::Result<()> {
    for workers in [1, 2, 4, 8] {
        let fresh = bench.fresh().await?;
        let (line, done) = map_on(&fresh, 10_000, workers).await?;
        let settings = format!("one map of 10,000, workers {workers}");
        bench.note(Line { case: "contention".into(), size: 10_000, settings, ..tasks(line, done) })?;
    }
    for workers in [1, 2, 4, 8] {
        let fresh = bench.fresh().await?;
        let builders = (0..workers).map(|_| Worker::builder(fresh.db()).flow(Map)).collect();
        let (line, done) = work(&fresh, builders, vec![Starts::maps(Map::SLUG, 200, 50)?]).await?;
        let settings = format!("200 maps of 50, workers {workers}");
        bench.note(Line { case: "contention".into(), size: 10_000, settings, ..tasks(line, done) })?;
    }
    Ok(())
}
