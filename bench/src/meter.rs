//! Reads the server's own counters before and after a piece of work.

use std::time::Duration;

use sqlx::{Connection, PgConnection};

use crate::{
    line::{Line, rounded},
    processes,
};

/// The counters at one moment.
#[derive(sqlx::FromRow)]
struct Counters {
    at: String,
    commits: i64,
    rollbacks: i64,
    wal_bytes: i64,
    database_bytes: i64,
    updates: i64,
    hot_updates: i64,
    own_backend: i32,
    #[sqlx(skip)]
    server_cpu_us: Option<f64>,
    #[sqlx(skip)]
    own_cpu_us: Option<f64>,
}

/// Watches one piece of work.
pub(crate) struct Meter {
    connection: PgConnection,
    began: Counters,
}

/// How many steps and runs ended while the meter ran, and in how many seconds: from the first start to the last end.
#[derive(Debug, Clone, Copy, sqlx::FromRow)]
pub(crate) struct Done {
    pub(crate) steps: i64,
    pub(crate) seconds: f64,
    /// The seconds of each run added up: for runs that were started one after the other.
    pub(crate) run_seconds: f64,
}

impl Meter {
    /// Begins.
    pub(crate) async fn begin(url: &str) -> sqlx::Result<Self> {
        let mut connection = PgConnection::connect(url).await?;
        let began = counters(&mut connection).await?;
        Ok(Self { connection, began })
    }

    /// Ends. Call it when the workers are gone: their connections report what they did when they close.
    pub(crate) async fn end(mut self) -> sqlx::Result<(Line, Done)> {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let (began, ended) = (self.began, counters(&mut self.connection).await?);
        let done: Done = sqlx::query_as(
            "select coalesce(sum(r.tasks), 0)::bigint as steps,
                    coalesce(extract(epoch from max(r.ended_at) - min(r.started_at)), 0)::float8 as seconds,
                    coalesce(extract(epoch from sum(r.ended_at - r.started_at)), 0)::float8 as run_seconds
             from (select r.started_at, r.ended_at,
                          (select sum(ss.task_count) from flow.step_state ss
                           where ss.run_id = r.run_id and ss.status = 'completed') as tasks
                   from flow.run r where r.started_at >= $1::timestamptz) r",
        )
        .bind(&began.at)
        .fetch_one(&mut self.connection)
        .await?;
        let (fsync, synchronous_commit) =
            sqlx::query_as("select current_setting('fsync'), current_setting('synchronous_commit')")
                .fetch_one(&mut self.connection)
                .await?;
        self.connection.close().await?;
        let each = |total: f64| Some(rounded(total / done.steps.max(1) as f64));
        let cpu = |before: Option<f64>, after: Option<f64>| each(after? - before?);
        let (commits, updates) = (ended.commits - began.commits, ended.updates - began.updates);
        let line = Line {
            pg_cpu_us_per_step: cpu(began.server_cpu_us, ended.server_cpu_us),
            client_cpu_us_per_step: cpu(began.own_cpu_us, ended.own_cpu_us),
            statements_per_step: each((commits + ended.rollbacks - began.rollbacks) as f64),
            commits_per_step: each(commits as f64),
            wal_bytes_per_step: each((ended.wal_bytes - began.wal_bytes) as f64),
            hot_share: (updates > 0).then(|| rounded((ended.hot_updates - began.hot_updates) as f64 / updates as f64)),
            bytes_per_task: each((ended.database_bytes - began.database_bytes) as f64),
            fsync,
            synchronous_commit,
            ..Line::default()
        };
        Ok((line, done))
    }
}

async fn counters(connection: &mut PgConnection) -> sqlx::Result<Counters> {
    let mut counters: Counters = sqlx::query_as(
        "select clock_timestamp()::text as at, d.xact_commit as commits, d.xact_rollback as rollbacks,
                pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as wal_bytes,
                pg_database_size(current_database()) as database_bytes,
                t.updates, t.hot_updates, pg_backend_pid() as own_backend
         from pg_stat_database d,
              (select coalesce(sum(n_tup_upd), 0)::bigint as updates, coalesce(sum(n_tup_hot_upd), 0)::bigint as hot_updates
               from pg_stat_user_tables where schemaname in ('flow', 'pgmq')) t
         where d.datname = current_database()",
    )
    .fetch_one(connection)
    .await?;
    counters.server_cpu_us = processes::server_cpu_us(counters.own_backend);
    counters.own_cpu_us = processes::own_cpu_us();
    Ok(counters)
}
