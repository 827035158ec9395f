//! The server that all are measured on, and a fresh database for each measurement.

use std::{
    path::PathBuf,
    process::{Command, exit},
};

use flow_runtime::embedded::{self, Embedded};
use sqlx::{AssertSqlSafe, Connection, PgConnection, postgres::PgConnectOptions};

/// Where the embedded server keeps its data, so that no other program uses the server at the same time.
const DATA: &str = "/var/tmp/flow-bench-peers";

/// A server with fsync on.
pub(crate) struct Server {
    embedded: Embedded,
    admin: PgConnection,
}

impl Server {
    /// Opens the server of `FLOW_DATABASE_URL`, or an embedded one of its own.
    pub(crate) async fn open() -> anyhow::Result<Self> {
        let is_given = |name| std::env::var(name).is_ok_and(|value: String| !value.is_empty());
        if !is_given("FLOW_DATABASE_URL") && !is_given("FLOW_PG_DATA") {
            // The place is read from the environment, which a program does not change under its own threads.
            let status = Command::new(std::env::current_exe()?)
                .args(std::env::args_os().skip(1))
                .env("FLOW_PG_DATA", PathBuf::from(DATA))
                .status()?;
            exit(status.code().unwrap_or(1));
        }
        let embedded = embedded::open("bench_peers").await?;
        let admin = PgConnection::connect(embedded.url()).await?;
        Ok(Self { embedded, admin })
    }

    /// Makes the empty database `name` and returns its URL. A checkpoint comes first, so that all begin alike.
    pub(crate) async fn create(&mut self, name: &str) -> anyhow::Result<String> {
        self.drop(name).await?;
        self.execute(&format!("create database {name}")).await?;
        self.execute("checkpoint").await?;
        let options: PgConnectOptions = self.embedded.url().parse()?;
        Ok(sqlx::ConnectOptions::to_url_lossy(&options.database(name)).into())
    }

    pub(crate) async fn drop(&mut self, name: &str) -> anyhow::Result<()> {
        self.execute(&format!("drop database if exists {name} with (force)")).await
    }

    /// One line for the report.
    pub(crate) async fn describe(&mut self) -> anyhow::Result<String> {
        Ok(sqlx::query_scalar(
            "select format('PostgreSQL %s, fsync %s, synchronous_commit %s, shared_buffers %s',
                           current_setting('server_version'), current_setting('fsync'),
                           current_setting('synchronous_commit'), current_setting('shared_buffers'))",
        )
        .fetch_one(&mut self.admin)
        .await?)
    }

    /// Transactions a second of one client that inserts one row and updates one row in each: the speed of the server's
    /// commits just now.
    pub(crate) async fn yardstick(&mut self) -> anyhow::Result<f64> {
        const TRANSACTIONS: u32 = 2_000;
        self.execute("drop table if exists yardstick_log, yardstick_sum").await?;
        self.execute("create table yardstick_log (n int not null)").await?;
        self.execute("create table yardstick_sum as select 0::bigint as n").await?;
        self.execute("checkpoint").await?;
        let began = std::time::Instant::now();
        for n in 0..TRANSACTIONS {
            sqlx::query(
                "with logged as (insert into yardstick_log values ($1) returning n)
                 update yardstick_sum s set n = s.n + logged.n from logged",
            )
            .bind(n as i32)
            .execute(&mut self.admin)
            .await?;
        }
        Ok(f64::from(TRANSACTIONS) / began.elapsed().as_secs_f64())
    }

    async fn execute(&mut self, sql: &str) -> anyhow::Result<()> {
        sqlx::query(AssertSqlSafe(sql.to_owned())).execute(&mut self.admin).await?;
        Ok(())
    }
}
