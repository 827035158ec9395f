//! Workers by hand: every exchange and heartbeat is the test's.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::Row;
use uuid::Uuid;

use super::Engine;

/// What `flow.exchange` answered.
#[derive(Debug)]
pub struct Reply {
    /// `ok`, or why nothing was claimed.
    pub state: String,
    /// The reason for another state than `ok`.
    pub reason: String,
    /// One verdict a settlement.
    pub verdicts: Vec<String>,
    /// The claimed tasks.
    pub claims: Vec<Claim>,
    /// The last place that was read in each priority.
    pub read: Vec<Mark>,
    /// In how many milliseconds the next delayed work is due.
    pub next_due_ms: Option<i64>,
    /// As many were taken as were asked for.
    pub has_more: bool,
    /// Workers that are to be told that work which they hold was ended.
    pub tell_workers: Vec<i64>,
}

/// A place in the order of a queue: priority, age, run, step and task.
pub(super) type Mark = (i16, DateTime<Utc>, Uuid, i32, i32);

/// One claimed task with what its handler would be called with.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The run.
    pub run: Uuid,
    /// The step's index.
    pub step: i32,
    /// The task's index; 0 in a single step.
    pub task: i32,
    /// The same as the functions write it: -1 is a single step.
    pub(super) sent_task: i32,
    /// The number of the exchange that claimed it.
    pub batch: i64,
    /// The attempt.
    pub attempt: i32,
    /// The element, in a map.
    pub item: Option<Value>,
    /// The run's input under `-1` and the outputs of dependencies under their step indexes, as sent for this run.
    pub values: Vec<(i32, Value)>,
    /// No attempt is left.
    pub is_exhausted: bool,
}

/// How a test ends an attempt.
#[derive(Debug, Clone)]
pub struct Settle {
    claim: Claim,
    outcome: &'static str,
    output: Option<String>,
    error: Option<String>,
    delay_ms: Option<i64>,
}

impl Settle {
    /// Whose attempt it ends.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }
}

impl Claim {
    /// Ends the attempt with an output.
    pub fn complete(&self, output: impl Into<Value>) -> Settle {
        self.complete_text(&output.into().to_string())
    }

    /// Ends the attempt with an output given as JSON text.
    pub fn complete_text(&self, output: &str) -> Settle {
        Settle { output: Some(output.to_owned()), ..self.ended("complete", None) }
    }

    /// Ends the attempt with an error that is retried while attempts are left.
    pub fn fail(&self, error: &str) -> Settle {
        self.ended("error", Some(error))
    }

    /// Ends the attempt with an error that is retried after `delay`.
    pub fn fail_for(&self, error: &str, delay: Duration) -> Settle {
        let delay_ms = i64::try_from(delay.as_millis()).ok();
        Settle { delay_ms, ..self.ended("error", Some(error)) }
    }

    /// Ends the attempt with an error that no further attempt could mend.
    pub fn fail_for_good(&self, error: &str) -> Settle {
        self.ended("permanent", Some(error))
    }

    /// Ends the attempt with another outcome: `timeout`, `panic`, or `lease_expired` for what was handed over without an attempt.
    pub fn ended(&self, outcome: &'static str, error: Option<&str>) -> Settle {
        let error = error.map(str::to_owned);
        Settle { claim: self.clone(), outcome, output: None, error, delay_ms: None }
    }

    /// The same work under another batch.
    pub fn with_batch(&self, batch: i64) -> Self {
        Self { batch, ..self.clone() }
    }

    /// The same task of another run.
    pub fn with_run(&self, run: Uuid) -> Self {
        Self { run, ..self.clone() }
    }

    /// The output of the dependency with this step index, as sent.
    pub fn dep(&self, step: i32) -> Option<&Value> {
        self.values.iter().find(|(index, _)| *index == step).map(|(_, value)| value)
    }
}

/// A number for a process or a worker.
pub(super) fn random_id() -> i64 {
    i64::try_from(Uuid::now_v7().as_u64_pair().1 >> 1).unwrap()
}

/// A registered worker whose exchanges the test makes one by one.
pub struct Hand<'a> {
    pub(super) engine: &'a Engine,
    /// Its process, as it was when the worker was registered.
    pub process: i64,
    /// The worker's id.
    pub id: i64,
    /// The lease that its heartbeats ask for.
    pub lease: Duration,
    /// The number of its last exchange.
    pub batch: AtomicI64,
}

/// The numbers of exchanges grow through all hands, since a worker may have several here.
static BATCHES: AtomicI64 = AtomicI64::new(0);

impl Hand<'_> {
    /// Claims up to `limit` tasks.
    pub async fn claim(&self, limit: i32) -> Vec<Claim> {
        self.exchange(limit, &[]).await.claims
    }

    /// Claims the only task there is.
    pub async fn claim_one(&self) -> Claim {
        let mut claims = self.claim(10).await;
        assert_eq!(claims.len(), 1, "expected one task: {claims:?}");
        claims.remove(0)
    }

    /// Settles without claiming; returns the verdicts.
    pub async fn settle(&self, settlements: &[Settle]) -> Vec<String> {
        self.exchange(0, settlements).await.verdicts
    }

    /// Settles one attempt, which must be accepted.
    pub async fn accept(&self, settlement: Settle) {
        assert_eq!(self.settle(&[settlement]).await, ["accepted"]);
    }

    /// Completes every task that can be claimed, with the outputs `output` gives, until none is left.
    pub async fn complete_all(&self, output: impl Fn(&Claim) -> Value) {
        let mut settlements = Vec::new();
        loop {
            let reply = self.exchange(100, &settlements).await;
            assert!(reply.verdicts.iter().all(|verdict| verdict == "accepted"), "{:?}", reply.verdicts);
            if reply.claims.is_empty() {
                return;
            }
            settlements = reply.claims.iter().map(|claim| claim.complete(output(claim))).collect();
        }
    }

    /// One round trip: settles, then claims.
    pub async fn exchange(&self, limit: i32, settlements: &[Settle]) -> Reply {
        self.try_exchange(limit, settlements).await.unwrap()
    }

    /// The last exchange once more, since its reply was lost.
    pub async fn repeat(&self, limit: i32, settlements: &[Settle]) -> Reply {
        self.exchange_as(self.batch.load(Ordering::SeqCst), limit, settlements, &[]).await.unwrap()
    }

    /// One round trip that may fail.
    pub async fn try_exchange(&self, limit: i32, settled: &[Settle]) -> sqlx::Result<Reply> {
        let batch = BATCHES.fetch_add(1, Ordering::SeqCst) + 1;
        self.batch.store(batch, Ordering::SeqCst);
        self.exchange_as(batch, limit, settled, &[]).await
    }

    /// The process that its worker belongs to: it may have gone on under another one since it was registered.
    async fn present_process(&self) -> i64 {
        // Without a name, so that the server plans it in one way only.
        let query = "select w.process_id from flow.worker w where w.worker_id = $1";
        let known = sqlx::query_scalar(query).persistent(false).bind(self.id);
        known.fetch_optional(self.engine.pool()).await.unwrap().unwrap_or(self.process)
    }

    /// One round trip that looks only at what lies behind `marks`, each in its priority.
    pub async fn exchange_from(&self, marks: &[Mark], limit: i32, settled: &[Settle]) -> Reply {
        let batch = BATCHES.fetch_add(1, Ordering::SeqCst) + 1;
        self.batch.store(batch, Ordering::SeqCst);
        self.exchange_with(batch, limit, settled, &[], marks).await.unwrap()
    }

    /// One round trip under a number, which names batches as finished.
    pub async fn exchange_as(
        &self,
        batch: i64,
        limit: i32,
        settled: &[Settle],
        finished: &[i64],
    ) -> sqlx::Result<Reply> {
        self.exchange_with(batch, limit, settled, finished, &[]).await
    }

    async fn exchange_with(
        &self,
        batch: i64,
        limit: i32,
        settled: &[Settle],
        finished: &[i64],
        marks: &[Mark],
    ) -> sqlx::Result<Reply> {
        let column = |of: fn(&Claim) -> i32| settled.iter().map(|s| of(&s.claim)).collect::<Vec<_>>();
        let process = self.present_process().await;
        let exchange = "select * from flow.exchange($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, false, $14, $15, $16, $17, $18)";
        let row = sqlx::query(exchange)
            .bind(process)
            .bind(self.id)
            .bind(batch)
            .bind(limit)
            .bind(settled.iter().map(|s| s.claim.run).collect::<Vec<_>>())
            .bind(column(|claim| claim.step))
            .bind(column(|claim| claim.sent_task))
            .bind(settled.iter().map(|s| s.claim.batch).collect::<Vec<_>>())
            .bind(settled.iter().map(|s| s.outcome).collect::<Vec<_>>())
            .bind(settled.iter().map(|s| s.output.clone()).collect::<Vec<_>>())
            .bind(settled.iter().map(|s| s.error.clone()).collect::<Vec<_>>())
            .bind(settled.iter().map(|s| s.delay_ms).collect::<Vec<_>>())
            .bind(finished)
            .bind(marks.iter().map(|mark| mark.0).collect::<Vec<_>>())
            .bind(marks.iter().map(|mark| mark.1).collect::<Vec<_>>())
            .bind(marks.iter().map(|mark| mark.2).collect::<Vec<_>>())
            .bind(marks.iter().map(|mark| mark.3).collect::<Vec<_>>())
            .bind(marks.iter().map(|mark| mark.4).collect::<Vec<_>>())
            .fetch_one(self.engine.pool())
            .await?;
        Ok(Reply {
            read: read(&row),
            next_due_ms: row.get("p_next_due_ms"),
            has_more: row.get::<Option<bool>, _>("p_more").unwrap_or(false),
            state: row.get("p_state"),
            reason: row.get::<Option<String>, _>("p_reason").unwrap_or_default(),
            verdicts: row.get::<Option<_>, _>("p_verdicts").unwrap_or_default(),
            claims: claims(&row, batch),
            tell_workers: row.get::<Option<_>, _>("p_tell_workers").unwrap_or_default(),
        })
    }

    /// A heartbeat of its process that names this worker alone, with what it holds; returns the worker's state and one verdict a
    /// piece: `held`, or why it is lost.
    pub async fn heartbeat(&self, held: &[Claim]) -> (String, Vec<String>) {
        self.heartbeat_with(held, None, &[]).await
    }

    /// The same with the exchange whose reply is still to come, and the places of what has run past its timeout.
    pub async fn heartbeat_with(
        &self,
        held: &[Claim],
        outstanding: Option<i64>,
        over: &[usize],
    ) -> (String, Vec<String>) {
        let (runs, steps, tasks, batches) = columns(held);
        let is_over: Vec<bool> = (0..held.len()).map(|place| over.contains(&place)).collect();
        let process = self.present_process().await;
        sqlx::query_as(
            "select h.p_states[1], array(
                 select coalesce((select l.why from unnest(h.p_lost, h.p_lost_why) l(ord, why) where l.ord = i), 'held')
                 from generate_series(1, cardinality($6::uuid[])) i)
             from flow.heartbeat($1, $2, array[$3::bigint], array[$4::bigint], array_fill($3::bigint, array[cardinality($5::bigint[])]),
                                 $5, array_fill($3::bigint, array[cardinality($6::uuid[])]), $6, $7, $8, $9, $10) h",
        )
        .bind(process)
        .bind(i64::try_from(self.lease.as_millis()).unwrap())
        .bind(self.id)
        .bind(self.batch.load(Ordering::SeqCst))
        .bind(outstanding.into_iter().collect::<Vec<i64>>())
        .bind(runs)
        .bind(steps)
        .bind(tasks)
        .bind(batches)
        .bind(is_over)
        .fetch_one(self.engine.pool())
        .await
        .unwrap()
    }

    /// Gives work back; returns which of it this worker held.
    pub async fn release(&self, held: &[Claim]) -> Vec<bool> {
        let (runs, steps, tasks, batches) = columns(held);
        sqlx::query_scalar("select r.p_held from flow.release_work($1, $2, $3, $4, $5) r")
            .bind(self.id)
            .bind(runs)
            .bind(steps)
            .bind(tasks)
            .bind(batches)
            .fetch_one(self.engine.pool())
            .await
            .unwrap()
    }
}

fn columns(held: &[Claim]) -> (Vec<Uuid>, Vec<i32>, Vec<i32>, Vec<i64>) {
    let column = |of: fn(&Claim) -> i32| held.iter().map(of).collect();
    let batches = held.iter().map(|claim| claim.batch).collect();
    (held.iter().map(|c| c.run).collect(), column(|c| c.step), column(|c| c.sent_task), batches)
}

fn read(row: &sqlx::postgres::PgRow) -> Vec<Mark> {
    let ints = |name: &str| row.get::<Option<Vec<i32>>, _>(name).unwrap_or_default();
    let ages: Vec<DateTime<Utc>> = row.get::<Option<_>, _>("p_read_ages").unwrap_or_default();
    let runs: Vec<Uuid> = row.get::<Option<_>, _>("p_read_runs").unwrap_or_default();
    let (steps, tasks) = (ints("p_read_steps"), ints("p_read_tasks"));
    let priorities: Vec<i16> = row.get::<Option<_>, _>("p_read_priorities").unwrap_or_default();
    let places = priorities.into_iter().enumerate();
    places.map(|(at, priority)| (priority, ages[at], runs[at], steps[at], tasks[at])).collect()
}

/// A number that no exchange has had.
pub(super) fn new_batch() -> i64 {
    BATCHES.fetch_add(1, Ordering::SeqCst) + 1
}

/// The values of a reply: run, step and value.
pub(super) fn values(row: &sqlx::postgres::PgRow) -> Vec<(Uuid, i32, Value)> {
    let runs: Vec<Uuid> = row.get::<Option<_>, _>("p_value_runs").unwrap_or_default();
    let steps: Vec<i32> = row.get::<Option<_>, _>("p_value_steps").unwrap_or_default();
    let values: Vec<String> = row.get::<Option<_>, _>("p_values").unwrap_or_default();
    runs.into_iter().zip(steps).zip(values).map(|((run, step), value)| (run, step, parse(&value))).collect()
}

pub(super) fn of_run(values: &[(Uuid, i32, Value)], run: Uuid) -> Vec<(i32, Value)> {
    values.iter().filter(|(of, ..)| *of == run).map(|(_, step, value)| (*step, value.clone())).collect()
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!("not JSON"))
}

fn claims(row: &sqlx::postgres::PgRow, batch: i64) -> Vec<Claim> {
    let ints = |name: &str| row.get::<Option<Vec<i32>>, _>(name).unwrap_or_default();
    let runs: Vec<Uuid> = row.get::<Option<_>, _>("p_runs").unwrap_or_default();
    let (steps, tasks, attempts) = (ints("p_steps"), ints("p_tasks"), ints("p_attempts"));
    let items: Vec<Option<String>> = row.get::<Option<_>, _>("p_items").unwrap_or_default();
    let exhausted: Vec<bool> = row.get::<Option<_>, _>("p_exhausted").unwrap_or_default();
    let values = values(row);
    let claim = |at: usize| Claim {
        run: runs[at],
        step: steps[at],
        task: tasks[at].max(0),
        sent_task: tasks[at],
        batch,
        attempt: attempts[at],
        item: items[at].as_deref().map(parse),
        values: of_run(&values, runs[at]),
        is_exhausted: exhausted[at],
    };
    (0..runs.len()).map(claim).collect()
}
