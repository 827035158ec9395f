//! How many steps a second: one shape of flow a case, one worker of 100 slots.

use std::path::Path;

use anyhow::Context;
use flow_examples::wfformat::{Workflow, build};
use flow_runtime::prelude::*;
use sqlx::{Connection, PgConnection};

use crate::{
    bench::{Bench, Fresh},
    flows::{self, Chain, Diamond, Map, Payload, Single},
    line::{Line, rounded},
    meter::Done,
    processes,
    work::{Starts, work, work_one_by_one},
};

/// Three steps in a row.
pub(crate) async fn chain(bench: &mut Bench, runs: u32, workers: usize) -> anyhow::Result<()> {
    let fresh = bench.fresh().await?;
    let (line, done) = chain_on(&fresh, runs, workers).await?;
    let settings = format!("workers {workers}");
    bench.note(Line { case: "chain".into(), size: runs as usize, settings, ..steps(line, done) })
}

/// Three steps in a row, on a database that may have a history.
pub(crate) async fn chain_on(fresh: &Fresh, runs: u32, workers: usize) -> anyhow::Result<(Line, Done)> {
    let workers = (0..workers).map(|_| Worker::builder(fresh.db()).flow(Chain)).collect();
    work(fresh, workers, vec![Starts::numbers(Chain::SLUG, runs)]).await
}

/// One step, and the floor under it.
pub(crate) async fn single(bench: &mut Bench, runs: u32) -> anyhow::Result<()> {
    let fresh = bench.fresh().await?;
    let worker = Worker::builder(fresh.db()).flow(Single);
    let (line, done) = work(&fresh, vec![worker], vec![Starts::numbers(Single::SLUG, runs)]).await?;
    let floor = pgmq_floor_us(&fresh).await?;
    bench.note(Line { case: "single".into(), size: runs as usize, pgmq_floor_us: floor, ..steps(line, done) })
}

/// One step, two beside each other, one that joins them.
pub(crate) async fn diamond(bench: &mut Bench, runs: u32) -> anyhow::Result<()> {
    let fresh = bench.fresh().await?;
    let worker = Worker::builder(fresh.db()).flow(Diamond);
    let (line, done) = work(&fresh, vec![worker], vec![Starts::numbers(Diamond::SLUG, runs)]).await?;
    bench.note(Line { case: "diamond".into(), size: runs as usize, ..steps(line, done) })
}

/// A map, again and again.
pub(crate) async fn map(bench: &mut Bench, items: u32) -> anyhow::Result<()> {
    let fresh = bench.fresh().await?;
    let (line, done) = map_on(&fresh, items, 1).await?;
    bench.note(Line { case: "map".into(), size: items as usize, ..tasks(line, done) })
}

/// Maps of so many elements, one after the other, until 10,000 tasks are done; with so many workers.
pub(crate) async fn map_on(fresh: &Fresh, items: u32, workers: usize) -> anyhow::Result<(Line, Done)> {
    let workers = (0..workers).map(|_| Worker::builder(fresh.db()).flow(Map)).collect();
    let maps = (0..(10_000 / items.max(1)).max(1)).map(|_| Starts::maps(Map::SLUG, 1, items));
    work_one_by_one(fresh, workers, maps.collect::<anyhow::Result<_>>()?).await
}

/// A step, so many beside each other, and one that joins them.
pub(crate) async fn wide(bench: &mut Bench, ways: usize, runs: usize) -> anyhow::Result<()> {
    let fresh = bench.fresh().await?;
    let worker = Worker::builder(fresh.db()).json(flows::wide(ways)?);
    let (line, done) = work(&fresh, vec![worker], vec![Starts::same("wide", runs, "1")]).await?;
    bench.note(Line { case: "wide".into(), size: runs, settings: format!("ways {ways}"), ..steps(line, done) })
}

/// A recorded workflow without its sleeps.
pub(crate) async fn wfformat(bench: &mut Bench, file: &Path) -> anyhow::Result<()> {
    let workflow = Workflow::read(file)?;
    let flow = build(&workflow, 0.0)?;
    let slug = flow.definition().shape.slug.clone();
    let fresh = bench.fresh().await?;
    let worker = Worker::builder(fresh.db()).json(flow);
    let (line, done) = work(&fresh, vec![worker], vec![Starts::same(&slug, 1, "null")]).await?;
    let settings = file.file_name().context("a file has a name")?.to_string_lossy().into_owned();
    bench.note(Line { case: "wfformat".into(), size: workflow.tasks.len(), settings, ..steps(line, done) })
}

/// The chain with outputs of a size.
pub(crate) async fn payload(bench: &mut Bench) -> anyhow::Result<()> {
    for (kb, runs) in [(1, 2_000), (100, 200)] {
        let fresh = bench.fresh().await?;
        let worker = Worker::builder(fresh.db()).flow(Payload);
        let (line, done) =
            work(&fresh, vec![worker], vec![Starts::same(Payload::SLUG, runs, &text(kb * 1000))]).await?;
        bench.note(Line { case: "payload".into(), size: runs, settings: format!("{kb} KB"), ..steps(line, done) })?;
    }
    Ok(())
}

/// A JSON string of so many letters that hardly compress.
fn text(letters: u64) -> String {
    let letter = |n: u64| char::from(b'a' + (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8 % 26);
    format!("\"{}\"", (0..letters).map(|n| letter(n * n + n)).collect::<String>())
}

/// Fills in the rate as steps.
pub(crate) fn steps(line: Line, done: Done) -> Line {
    Line { steps_per_s: Some((done.steps as f64 / done.seconds).round()), ..line }
}

/// Fills in the rate as tasks.
pub(crate) fn tasks(line: Line, done: Done) -> Line {
    Line { tasks_per_s: Some((done.steps as f64 / done.seconds).round()), ..line }
}

/// What PGMQ's own functions take for a message that is sent, read and deleted, in batches of 100: no engine can be below it.
async fn pgmq_floor_us(fresh: &Fresh) -> anyhow::Result<Option<f64>> {
    const MESSAGES: u32 = 20_000;
    fresh.db().use_pgmq().await?;
    let mut connection = PgConnection::connect(fresh.url()).await?;
    sqlx::query("select pgmq.create('floor')").execute(&mut connection).await?;
    let backend: i32 = sqlx::query_scalar("select pg_backend_pid()").fetch_one(&mut connection).await?;
    let began = processes::server_cpu_us(backend);
    for _ in 0..MESSAGES / 100 {
        sqlx::query("select pgmq.send_batch('floor', array_fill('{\"n\": 1}'::jsonb, array[100]))")
            .execute(&mut connection)
            .await?;
        let read: Vec<i64> =
            sqlx::query_scalar("select m.msg_id from pgmq.read('floor', 30, 100) m").fetch_all(&mut connection).await?;
        sqlx::query("select pgmq.delete('floor', $1)").bind(read).execute(&mut connection).await?;
    }
    let ended = processes::server_cpu_us(backend);
    connection.close().await?;
    Ok(began.zip(ended).map(|(began, ended)| rounded((ended - began) / f64::from(MESSAGES))))
}
