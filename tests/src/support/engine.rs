//! The engine driven by hand: deploy, start, and workers whose every exchange the test decides.

use std::{sync::atomic::AtomicI64, time::Duration};

use flow_runtime::Db;
use serde_json::Value;
use sqlx::PgPool;
use uuid::Uuid;

use super::{Graph, Hand, TestDb, hand::random_id};

/// A database with the engine, and what tests ask of it.
pub struct Engine {
    db: TestDb,
}

impl Engine {
    /// A migrated database of its own.
    pub async fn new() -> Self {
        Self { db: TestDb::new().await }
    }

    /// The same, where the queues are of pgmq delivery.
    pub async fn of_pgmq() -> Self {
        let engine = Self::new().await;
        let db = Db::new(engine.url()).unwrap();
        db.use_pgmq().await.unwrap();
        db.close().await;
        engine
    }

    /// The same, where the queues are of rows delivery also when `FLOW_TEST_DELIVERY` says otherwise.
    pub async fn of_rows() -> Self {
        let engine = Self::new().await;
        engine.run_sql("select flow.set_setting('delivery', 'rows'::text)").await;
        engine
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

    /// A worker by hand for some steps, on a queue, in a process of its own.
    pub async fn worker_of(&self, graph: &Graph, queue: &str, steps: &[usize]) -> Hand<'_> {
        let process = self.process(Duration::from_secs(30)).await;
        self.worker_in(process, graph, queue, steps).await
    }

    /// A process whose lease has just been renewed.
    pub async fn process(&self, lease: Duration) -> i64 {
        let process = random_id();
        sqlx::query("select flow.register_process($1, 'by hand', $2)")
            .bind(process)
            .bind(i64::try_from(lease.as_millis()).unwrap())
            .execute(self.pool())
            .await
            .unwrap();
        process
    }

    /// A worker by hand for some steps, on a queue, in a process that is there.
    pub async fn worker_in(&self, process: i64, graph: &Graph, queue: &str, steps: &[usize]) -> Hand<'_> {
        let steps: Vec<i32> = steps.iter().map(|step| i32::try_from(*step).unwrap()).collect();
        let id = random_id();
        sqlx::query("select flow.register_worker($1, $2, 'hand', $3, $4, $5, $6, $6, 1)")
            .bind(id)
            .bind(process)
            .bind(graph.slug())
            .bind(graph.shape())
            .bind(queue)
            .bind(&steps)
            .execute(self.pool())
            .await
            .unwrap();
        Hand { process, ..self.hand(id) }
    }

    /// A worker that was registered before.
    pub fn hand(&self, id: i64) -> Hand<'_> {
        Hand { engine: self, process: id, id, lease: Duration::from_secs(30), batch: AtomicI64::default() }
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
