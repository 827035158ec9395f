//! What lies in the database must not slow what goes on in it: tasks that have ended, messages that are not yet visible.

use flow_runtime::prelude::*;

use crate::{
    bench::{Bench, Fresh},
    cases::rate::{chain_on, steps},
    flows::{Chain, Single},
    line::Line,
    meter::Done,
    work::{Starts, work},
};

/// Runs of the chain that have ended, three tasks each, as if they had been run.
const HISTORY: &str = "
    insert into flow.run (run_id, flow_id, remaining_steps, status, started_at, ended_at, output, input)
    select md5('h' || n)::uuid, f.flow_id, 0, 'completed', now() - interval '1 day', now(), '{}', '1'
    from flow.flow f, generate_series(1, $runs) n where f.slug = 'chain';
    insert into flow.step_state (run_id, step_index, flow_id, age, remaining_deps, remaining_tasks, task_count, status,
                                 started_at, ended_at, queued_at, queue_id, priority, attempt, worker_id, batch, claimed_at, output)
    select r.run_id, n, r.flow_id, now(), 0, 0, 1, 'completed', now(), now(), now(), q.queue_id, 5, 1, 1, 1, now(), '1'
    from flow.run r, flow.queue q, generate_series(0, 2) n where r.status = 'completed' and q.name = 'chain'";

/// 10,000 runs that may begin tomorrow.
const TOMORROW: &str = "
    select flow.start_runs('single', array_fill('1'::text, array[10000]), '{}', '{}',
                           array_fill(now() + interval '1 day', array[10000]))";

/// The chain beside so many tasks that have ended.
pub(crate) async fn growth(bench: &mut Bench) -> anyhow::Result<()> {
    for tasks in [0, 200_000, 1_000_000] {
        let fresh = bench.fresh().await?;
        insert_history(&fresh, tasks).await?;
        let (line, done) = chain_on(&fresh, 3_000, 1).await?;
        let settings = format!("ended tasks {tasks}");
        bench.note(Line { case: "growth".into(), size: 3_000, settings, ..steps(line, done) })?;
    }
    Ok(())
}

/// Jobs of one step beside so many of tomorrow.
pub(crate) async fn hidden_on(fresh: &Fresh, hidden: usize, runs: u32) -> anyhow::Result<(Line, Done)> {
    let deploy = Worker::builder(fresh.db()).flow(Single).build()?.start().await?;
    deploy.shutdown().await?;
    for _ in 0..hidden / 10_000 {
        fresh.run_sql(TOMORROW).await?;
    }
    work(fresh, vec![Worker::builder(fresh.db()).flow(Single)], vec![Starts::numbers(Single::SLUG, runs)]).await
}

async fn insert_history(fresh: &Fresh, tasks: usize) -> anyhow::Result<()> {
    Worker::builder(fresh.db()).flow(Chain).build()?.start().await?.shutdown().await?;
    fresh.run_sql(&HISTORY.replace("$runs", &(tasks / 3).to_string())).await
}

/// Jobs of one step, with and without 100,000 delayed messages in the same queue.
pub(crate) async fn hidden(bench: &mut Bench) -> anyhow::Result<()> {
    for hidden in [0, 100_000] {
        let fresh = bench.fresh().await?;
        let (line, done) = hidden_on(&fresh, hidden, 9_000).await?;
        bench.note(Line {
            case: "hidden".into(),
            size: 9_000,
            settings: format!("hidden {hidden}"),
            ..steps(line, done)
        })?;
    }
    Ok(())
}
