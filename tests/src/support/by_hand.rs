//! What tests do that no worker would: move time, cut, and look.

use serde_json::Value;
use sqlx::Row;
use uuid::Uuid;

use super::{Claim, Engine, Graph, Settle};

/// A place in a hand: run, step, task and batch.
pub(crate) type Listed = (Uuid, i32, i32, i64);

impl Engine {
    /// A migrated database of its own with one flow deployed.
    pub async fn with(graph: &Graph) -> Self {
        let engine = Self::new().await;
        engine.deploy(graph).await;
        engine
    }

    /// As if the time had passed: every lease is over, what was held is recovered, the processes go on, every message is visible.
    pub async fn pass_time(&self) {
        self.end_leases().await;
        self.go_on().await;
    }

    /// Ends every lease now, and recovers what was held under it.
    pub async fn end_leases(&self) {
        self.expire_leases().await;
        self.recover().await;
    }

    /// Ends the processes whose leases are over.
    pub async fn end_lost_processes(&self) {
        self.run_sql("select flow.end_process(p.process_id) from flow.process p where p.ended_at is null and p.lease_until < now()")
            .await;
    }

    /// Ends every lease now, and the processes with them.
    pub async fn expire_leases(&self) {
        let living = "ended_at is null and stopped_at is null";
        for change in [
            format!("update flow.process set lease_until = clock_timestamp() - interval '1 s' where {living}"),
            format!("select flow.end_process(p.process_id) from flow.process p where {living}"),
        ] {
            sqlx::raw_sql(sqlx::AssertSqlSafe(change)).execute(self.pool()).await.unwrap();
        }
    }

    /// Recovers what is listed in hands of workers that are gone, stopped or ended.
    pub async fn recover(&self) {
        for (worker, row, _) in self.hands().await {
            self.recover_row(worker, row).await;
        }
    }

    /// Recovers one row of a hand.
    pub async fn recover_row(&self, worker: i64, row: i64) {
        let recover = "select flow.recover_hand($1, $2)";
        sqlx::query(recover).bind(worker).bind(row).execute(self.pool()).await.unwrap();
    }

    /// The rows of all hands: worker, batch, and what each lists, as run, step, task and batch.
    pub async fn hands(&self) -> Vec<(i64, i64, Vec<Listed>)> {
        let query = "select h.worker_id, h.batch, h.runs, h.steps, h.tasks, h.batches from flow.hand h order by 1, 2";
        let rows = sqlx::query(query).fetch_all(self.pool()).await.unwrap();
        rows.iter()
            .map(|row| {
                let (runs, steps): (Vec<Uuid>, Vec<i32>) = (row.get("runs"), row.get("steps"));
                let (tasks, batches): (Vec<i32>, Vec<i64>) = (row.get("tasks"), row.get("batches"));
                let places = runs.into_iter().zip(steps).zip(tasks).zip(batches);
                let listed = places.map(|(((run, step), task), batch)| (run, step, task, batch)).collect();
                (row.get("worker_id"), row.get("batch"), listed)
            })
            .collect()
    }

    /// Lets processes that were ended go on, and makes every message visible.
    pub async fn go_on(&self) {
        self.run_sql("select test.make_due()").await;
        self.revive().await;
    }

    /// Lets processes that were ended go on, unless something of theirs is still to be recovered.
    pub async fn revive(&self) {
        let ended = "select p.process_id, array_agg(w.worker_id order by w.worker_id) from flow.process p
                     join flow.worker w on w.process_id = p.process_id and w.stopped_at is null
                     where p.ended_at is not null group by p.process_id order by p.process_id";
        let ended: Vec<(i64, Vec<i64>)> = sqlx::query_as(ended).fetch_all(self.pool()).await.unwrap();
        // One process a transaction, as each would do it for itself.
        for (process, workers) in ended {
            sqlx::query("select flow.revive_process($1, p.process_id + 1, p.name, p.lease_ms) from flow.process p where p.process_id = $2")
                .bind(workers)
                .bind(process)
                .execute(self.pool())
                .await
                .unwrap();
        }
    }

    /// Cancels a run; returns its status afterwards.
    pub async fn cancel(&self, run: Uuid) -> String {
        sqlx::query_scalar("select flow.cancel_run($1)::text").bind(run).fetch_one(self.pool()).await.unwrap()
    }

    /// The statuses of a step's tasks with how many there are of each: `3 completed, 1 queued`.
    pub async fn task_counts(&self, run: Uuid, step: &str) -> String {
        let query = "select coalesce(string_agg(c.count || ' ' || c.status, ', ' order by c.status), 'none') from (
                         select count(*), t.status from flow.tasks t where t.run_id = $1 and t.step = $2 group by t.status) c";
        sqlx::query_scalar(query).bind(run).bind(step).fetch_one(self.pool()).await.unwrap()
    }

    /// What a run came to: its status and output.
    pub async fn result(&self, run: Uuid) -> (String, Value) {
        let row = self.run(run).await;
        (row["status"].as_str().unwrap_or_default().to_owned(), row["output"].clone())
    }

    /// Inserts runs of a flow that ended long ago, with `tasks` tasks a map, as if they had been run. Each single step, and the first
    /// task of each map, had failed once. Call it once a flow.
    pub async fn insert_history(&self, slug: &str, runs: i32, tasks: i32) {
        let insert = "with ended as (
                 insert into flow.run (run_id, flow_id, remaining_steps, status, started_at, ended_at, output, input)
                 select md5(f.slug || n)::uuid, f.flow_id, 0, 'completed', now(), now(), '{}', '[]'
                 from flow.flow f, generate_series(1, $2) n where f.slug = $1
                 returning run_id, flow_id
             ), steps as (
                 insert into flow.step_state (run_id, step_index, flow_id, age, remaining_deps, remaining_tasks, task_count,
                                              status, started_at, ended_at, queued_at, queue_id, priority, attempt, worker_id,
                                              batch, claimed_at, output)
                 select e.run_id, s.step_index, e.flow_id, now(), 0, 0, case s.kind when 'map' then $3 else 1 end, 'completed', now(),
                        now(), w.at, w.queue_id, w.one * 5, coalesce(w.one + 1, 0), w.one, w.one, w.at, '[]'
                 from ended e join flow.step s using (flow_id)
                 left join lateral (select s.queue_id, 1 as one, now() as at where s.kind = 'single') w on true
             ), failures as (
                 insert into flow.attempt_error (run_id, step_index, task_index, worker_id, batch, attempt, cause, error, at)
                 select e.run_id, s.step_index, case s.kind when 'map' then 0 else -1 end, 1, 0, 1, 'error', 'no', now()
                 from ended e join flow.step s using (flow_id)
             )
             insert into flow.task (run_id, step_index, task_index, flow_id, queue_id, priority, age, attempt, queued_at,
                                    status, worker_id, batch, claimed_at, ended_at, item, output)
             select e.run_id, s.step_index, i, e.flow_id, s.queue_id, 5, now(), case when i = 0 then 2 else 1 end, now(),
                    'completed', 1, 1, now(), now(), '1', '1'
             from ended e join flow.step s using (flow_id), generate_series(0, $3 - 1) i where s.kind = 'map'";
        sqlx::query(insert).bind(slug).bind(runs).bind(tasks).execute(self.pool()).await.unwrap();
    }
}

/// The invariants as one SQL function.
const BROKEN_ROWS: &str = include_str!("../../sql/broken_rows.sql");

impl Engine {
    /// Makes `flow.broken_rows()`, which lists every violation of an invariant.
    pub async fn make_broken_rows(&self) {
        self.run_sql(BROKEN_ROWS).await;
    }

    /// Fails unless every invariant holds. Call it at the end of a history.
    ///
    /// # Panics
    /// With the rows that break one.
    pub async fn check(&self) {
        self.make_broken_rows().await;
        assert_eq!(self.broken_rows().await, Vec::<String>::new());
    }

    /// Every violation of an invariant, as `I3: step 1: remaining tasks are 2, live are 1`.
    pub async fn broken_rows(&self) -> Vec<String> {
        let query = "select concat(b.invariant, ': ', b.what) from flow.broken_rows() b order by 1";
        sqlx::query_scalar(query).fetch_all(self.pool()).await.unwrap()
    }
}

/// One settlement a claim, each with the output `output` gives.
pub fn complete_each(claims: &[Claim], output: impl Fn(&Claim) -> Value) -> Vec<Settle> {
    claims.iter().map(|claim| claim.complete(output(claim))).collect()
}
