//! The engine driven by hand: deploy, start, and workers whose every exchange the test decides.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{PgPool, Row};
use uuid::Uuid;

use super::{Graph, TestDb};

/// A database with the engine, and what tests ask of it.
pub struct Engine {
    db: TestDb,
}

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
}

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
    sent_task: i32,
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

    /// Ends the attempt with another outcome: `timeout`, `panic` or `lease_expired`.
    pub fn ended(&self, outcome: &'static str, error: Option<&str>) -> Settle {
        let error = error.map(str::to_owned);
        Settle { claim: self.clone(), outcome, output: None, error, delay_ms: None }
    }

    /// The same task under another attempt.
    pub fn with_attempt(&self, attempt: i32) -> Self {
        Self { attempt, ..self.clone() }
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

impl Engine {
    /// A migrated database of its own.
    pub async fn new() -> Self {
        Self { db: TestDb::new().await }
    }

    /// The same with up to `connections` connections, for tests that race.
    pub async fn with_connections(connections: u32) -> Self {
        Self { db: TestDb::with_connections(connections).await }
    }

    /// The database's URL.
    pub fn url(&self) -> &str {
        self.db.url()
    }

    /// Closes all connections of this engine, so that the server counts what they did; new ones are made on use.
    pub async fn reconnect(&mut self) {
        self.db.reconnect().await;
    }

    /// Connections for looking at the database.
    pub fn pool(&self) -> &PgPool {
        self.db.pool()
    }

    /// Deploys and returns the answer.
    pub async fn deploy(&self, graph: &Graph) -> Value {
        self.try_deploy(&graph.definition()).await.unwrap()
    }

    /// Deploys whatever is given.
    pub async fn try_deploy(&self, definition: &Value) -> sqlx::Result<Value> {
        sqlx::query_scalar("select flow.deploy($1)").bind(definition).fetch_one(self.pool()).await
    }

    /// Starts a run.
    pub async fn start(&self, slug: &str, input: impl Into<Value>) -> Uuid {
        self.try_start(slug, input).await.unwrap()
    }

    /// Starts a run, which may be refused.
    pub async fn try_start(&self, slug: &str, input: impl Into<Value>) -> sqlx::Result<Uuid> {
        sqlx::query_scalar("select flow.start_run($1, $2)").bind(slug).bind(input.into()).fetch_one(self.pool()).await
    }

    /// A worker by hand for every step of a plain flow, whose handlers all take the input.
    pub async fn worker(&self, graph: &Graph) -> Hand<'_> {
        let steps: Vec<usize> = (0..graph.len()).collect();
        self.worker_of(graph, &graph.slug().to_lowercase(), &steps).await
    }

    /// A worker by hand for some steps, on a queue.
    pub async fn worker_of(&self, graph: &Graph, queue: &str, steps: &[usize]) -> Hand<'_> {
        let steps: Vec<i32> = steps.iter().map(|step| i32::try_from(*step).unwrap()).collect();
        let id = sqlx::query_scalar("select p_worker from flow.register_worker('hand', $1, $2, $3, $4, $4, 1)")
            .bind(graph.slug())
            .bind(graph.shape())
            .bind(queue)
            .bind(&steps)
            .fetch_one(self.pool())
            .await
            .unwrap();
        self.hand(id)
    }

    /// A worker that was registered before.
    pub fn hand(&self, id: i64) -> Hand<'_> {
        Hand { engine: self, id, lease: Duration::from_secs(30) }
    }

    /// One value of one row.
    pub async fn value<T>(&self, query: &'static str) -> T
    where
        T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + Send + Unpin,
    {
        sqlx::query_scalar(query).fetch_one(self.pool()).await.unwrap()
    }

    /// The first column of every row, joined by spaces.
    pub async fn words(&self, query: &'static str) -> String {
        let words: Vec<String> = sqlx::query_scalar(query).fetch_all(self.pool()).await.unwrap();
        words.join(" ")
    }

    /// Does something to the database behind the engine's back.
    pub async fn run_sql(&self, sql: &'static str) {
        sqlx::raw_sql(sql).execute(self.pool()).await.unwrap();
    }

    /// The run as `flow.runs` shows it, as one JSON object.
    pub async fn run(&self, run: Uuid) -> Value {
        let query = "select to_jsonb(r) from flow.runs r where r.run_id = $1";
        sqlx::query_scalar(query).bind(run).fetch_one(self.pool()).await.unwrap()
    }

    /// `step=status` for each step of a run in step order, with the skip reason where there is one.
    pub async fn steps(&self, run: Uuid) -> String {
        let query = "select coalesce(string_agg(s.step || '=' || s.status || coalesce(':' || s.skip_reason, ''), ' '
                                                order by s.step_index), '')
                     from flow.steps s where s.run_id = $1";
        sqlx::query_scalar(query).bind(run).fetch_one(self.pool()).await.unwrap()
    }

    /// `step.index=status/attempt` for each task of a run, in order.
    pub async fn tasks(&self, run: Uuid) -> String {
        let query = "select coalesce(string_agg(t.step || '.' || t.task_index || '=' || t.status || '/' || t.attempt, ' '
                                                order by s.step_index, t.task_index), '')
                     from flow.tasks t join flow.steps s on s.run_id = t.run_id and s.step = t.step where t.run_id = $1";
        sqlx::query_scalar(query).bind(run).fetch_one(self.pool()).await.unwrap()
    }

    /// One step of a run as `flow.steps` shows it.
    pub async fn step(&self, run: Uuid, step: &str) -> Value {
        let query = "select to_jsonb(s) from flow.steps s where s.run_id = $1 and s.step = $2";
        sqlx::query_scalar(query).bind(run).bind(step).fetch_one(self.pool()).await.unwrap()
    }

    /// How many messages lie in all queues, hidden ones too.
    pub async fn messages(&self) -> i64 {
        self.value("select coalesce(sum(q.messages), 0)::bigint from flow.queues q").await
    }

    /// How many messages are visible now, in all queues.
    pub async fn visible(&self) -> i64 {
        self.value("select coalesce(sum(q.visible), 0)::bigint from flow.queues q").await
    }
}

/// A registered worker whose exchanges the test makes one by one.
pub struct Hand<'a> {
    engine: &'a Engine,
    /// The worker's id.
    pub id: i64,
    /// The lease of its claims.
    pub lease: Duration,
}

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
        self.try_exchange(limit, settlements, None).await.unwrap()
    }

    /// The exchange after a lost reply, by a worker that holds only `held`.
    pub async fn resume(&self, limit: i32, held: &[Claim]) -> Reply {
        self.try_exchange(limit, &[], Some(held)).await.unwrap()
    }

    /// One round trip that may fail.
    pub async fn try_exchange(&self, limit: i32, settled: &[Settle], held: Option<&[Claim]>) -> sqlx::Result<Reply> {
        let column = |of: fn(&Claim) -> i32| settled.iter().map(|s| of(&s.claim)).collect::<Vec<_>>();
        let held_column = |of: fn(&Claim) -> i32| held.unwrap_or_default().iter().map(of).collect::<Vec<_>>();
        let row = sqlx::query(
            "select * from flow.exchange($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        )
        .bind(self.id)
        .bind(limit)
        .bind(i64::try_from(self.lease.as_millis()).unwrap())
        .bind(settled.iter().map(|s| s.claim.run).collect::<Vec<_>>())
        .bind(column(|claim| claim.step))
        .bind(column(|claim| claim.sent_task))
        .bind(column(|claim| claim.attempt))
        .bind(settled.iter().map(|s| s.outcome).collect::<Vec<_>>())
        .bind(settled.iter().map(|s| s.output.clone()).collect::<Vec<_>>())
        .bind(settled.iter().map(|s| s.error.clone()).collect::<Vec<_>>())
        .bind(settled.iter().map(|s| s.delay_ms).collect::<Vec<_>>())
        .bind(held.is_some())
        .bind(held.unwrap_or_default().iter().map(|claim| claim.run).collect::<Vec<_>>())
        .bind(held_column(|claim| claim.step))
        .bind(held_column(|claim| claim.sent_task))
        .bind(held_column(|claim| claim.attempt))
        .fetch_one(self.engine.pool())
        .await?;
        Ok(Reply {
            state: row.get("p_state"),
            reason: row.get::<Option<String>, _>("p_reason").unwrap_or_default(),
            verdicts: row.get::<Option<_>, _>("p_verdicts").unwrap_or_default(),
            claims: claims(&row),
        })
    }

    /// Renews the leases of claimed tasks; returns the worker's state and one verdict a task, with the reason of a loss.
    pub async fn renew(&self, held: &[Claim]) -> (String, Vec<String>) {
        let (runs, steps, tasks, attempts) = columns(held);
        sqlx::query_as(
            "select p_state, array(select v || coalesce(':' || r, '') from unnest(p_verdicts, p_reasons) u(v, r))
             from flow.renew_leases($1, $2, $3, $4, $5, $6)",
        )
        .bind(self.id)
        .bind(i64::try_from(self.lease.as_millis()).unwrap())
        .bind(runs)
        .bind(steps)
        .bind(tasks)
        .bind(attempts)
        .fetch_one(self.engine.pool())
        .await
        .unwrap()
    }

    /// Gives tasks back; returns which of them this worker held.
    pub async fn release(&self, held: &[Claim]) -> Vec<bool> {
        let (runs, steps, tasks, attempts) = columns(held);
        sqlx::query_scalar("select flow.release_work($1, $2, $3, $4, $5)")
            .bind(self.id)
            .bind(runs)
            .bind(steps)
            .bind(tasks)
            .bind(attempts)
            .fetch_one(self.engine.pool())
            .await
            .unwrap()
    }
}

fn columns(held: &[Claim]) -> (Vec<Uuid>, Vec<i32>, Vec<i32>, Vec<i32>) {
    let column = |of: fn(&Claim) -> i32| held.iter().map(of).collect();
    (held.iter().map(|c| c.run).collect(), column(|c| c.step), column(|c| c.sent_task), column(|c| c.attempt))
}

fn claims(row: &sqlx::postgres::PgRow) -> Vec<Claim> {
    let ints = |name: &str| row.get::<Option<Vec<i32>>, _>(name).unwrap_or_default();
    let runs: Vec<Uuid> = row.get::<Option<_>, _>("p_runs").unwrap_or_default();
    let (steps, tasks, attempts) = (ints("p_steps"), ints("p_tasks"), ints("p_attempts"));
    let items: Vec<Option<String>> = row.get::<Option<_>, _>("p_items").unwrap_or_default();
    let exhausted: Vec<bool> = row.get::<Option<_>, _>("p_exhausted").unwrap_or_default();
    let value_runs: Vec<Uuid> = row.get::<Option<_>, _>("p_value_runs").unwrap_or_default();
    let values: Vec<String> = row.get::<Option<_>, _>("p_values").unwrap_or_default();
    let value_steps = ints("p_value_steps");
    let parse = |text: &String| serde_json::from_str(text).unwrap_or_else(|_| json!("not JSON"));
    (0..runs.len())
        .map(|at| Claim {
            run: runs[at],
            step: steps[at],
            task: tasks[at].max(0),
            sent_task: tasks[at],
            attempt: attempts[at],
            item: items[at].as_ref().map(parse),
            values: (0..value_runs.len())
                .filter(|value| value_runs[*value] == runs[at])
                .map(|value| (value_steps[value], parse(&values[value])))
                .collect(),
            is_exhausted: exhausted[at],
        })
        .collect()
}
