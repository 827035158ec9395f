//! A short run for CI: small sizes, and ratios inside one run with margins so wide that only a real loss of speed fails them.

use anyhow::ensure;

use crate::{
    bench::Bench,
    cases::{
        history::hidden_on,
        rate::{chain_on, map_on, steps, tasks},
    },
    line::Line,
};

/// A step of the chain costs this many transactions of the yardstick at most; 0.6 were seen.
const MOST_TRANSACTIONS_A_STEP: f64 = 2.0;
/// A task of a map of 10,000 against one of a map of 1,000; 0.8 were seen.
const MOST_GROWTH: f64 = 2.0;
/// A step beside 100,000 hidden messages against one beside none; 1.0 were seen.
const MOST_HIDDEN: f64 = 2.5;
/// How often a ratio that is too high is measured again: other work on the machine comes and goes.
const TRIES: usize = 3;

/// Fails when a ratio is far off.
pub(crate) async fn smoke(bench: &mut Bench) -> anyhow::Result<()> {
    at_most(bench, "transactions of the yardstick a step", MOST_TRANSACTIONS_A_STEP, async |bench| {
        let fresh = bench.fresh().await?;
        let (line, done) = chain_on(&fresh, 2_000, 1).await?;
        let line = Line { case: "chain".into(), size: 2_000, ..steps(line, done) };
        let ratio = line.yardstick_tps * done.seconds / done.steps as f64;
        bench.note(line)?;
        Ok(ratio)
    })
    .await?;
    at_most(bench, "a task of a map of 10,000 against 1,000", MOST_GROWTH, async |bench| {
        let mut seconds_a_task = [0.0; 2];
        for (at, items) in [1_000, 10_000].into_iter().enumerate() {
            let fresh = bench.fresh().await?;
            let (line, done) = map_on(&fresh, items, 1).await?;
            bench.note(Line { case: "map".into(), size: items as usize, ..tasks(line, done) })?;
            seconds_a_task[at] = done.seconds / done.steps as f64;
        }
        Ok(seconds_a_task[1] / seconds_a_task[0])
    })
    .await?;
    at_most(bench, "a step beside 100,000 hidden messages", MOST_HIDDEN, async |bench| {
        let mut seconds = [0.0; 2];
        for (at, hidden) in [0, 100_000].into_iter().enumerate() {
            let fresh = bench.fresh().await?;
            let (line, done) = hidden_on(&fresh, hidden, 3_000).await?;
            let settings = format!("hidden {hidden}");
            bench.note(Line { case: "hidden".into(), size: 3_000, settings, ..steps(line, done) })?;
            seconds[at] = done.seconds;
        }
        Ok(seconds[1] / seconds[0])
    })
    .await
}

/// Measures a ratio until it is low enough, a few times.
async fn at_most(
    bench: &mut Bench,
    what: &str,
    limit: f64,
    mut measure: impl AsyncFnMut(&mut Bench) -> anyhow::Result<f64>,
) -> anyhow::Result<()> {
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let ratio = measure(bench).await?;
        eprintln!("{what}: {ratio:.2} (limit {limit})");
        if ratio <= limit {
            return Ok(());
        }
        seen.push(ratio);
    }
    ensure!(seen.is_empty(), "{what}: {seen:.2?}, the limit is {limit}");
    Ok(())
}
