//! The database that is measured, made anew for each measurement, and the lines that came of it.

use std::str::FromStr;

use anyhow::ensure;
use flow_runtime::{embedded, prelude::*};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, postgres::PgConnectOptions};

use crate::{
    line::{Line, rounded},
    meter::{Done, Meter},
    yardstick,
};

/// The database of all cases.
const DATABASE: &str = "flow_bench";

/// The server, held as long as this lives, and what was measured.
pub(crate) struct Bench {
    server: embedded::Embedded,
    lines: Vec<Line>,
}

/// A fresh, migrated database.
pub(crate) struct Fresh {
    url: String,
    db: Db,
}

impl Bench {
    /// Starts the embedded server, or takes the one that `FLOW_DATABASE_URL` names.
    pub(crate) async fn open() -> anyhow::Result<Self> {
        let server = embedded::open("flow_bench_server").await?;
        eprintln!("{}", server.describe());
        Ok(Self { server, lines: Vec::new() })
    }

    /// What was measured so far.
    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Prints a line and keeps it for the report.
    pub(crate) fn note(&mut self, line: Line) -> anyhow::Result<()> {
        println!("{}", serde_json::to_string(&line)?);
        self.lines.push(line);
        Ok(())
    }

    /// Makes the database anew.
    pub(crate) async fn fresh(&self) -> anyhow::Result<Fresh> {
        let mut admin = PgConnection::connect(self.server.url()).await?;
        // WITH (FORCE): connections of an earlier measurement may still be closing.
        sqlx::raw_sql("drop database if exists flow_bench with (force)").execute(&mut admin).await?;
        sqlx::raw_sql("create database flow_bench").execute(&mut admin).await?;
        // What an earlier measurement left to be written is not this one's work.
        sqlx::raw_sql("checkpoint").execute(&mut admin).await?;
        admin.close().await?;
        let url = PgConnectOptions::from_str(self.server.url())?.database(DATABASE).to_url_lossy().to_string();
        yardstick::prepare(&url).await?;
        let db = Db::new(&url)?;
        db.migrate().await?;
        Ok(Fresh { url, db })
    }
}

impl Fresh {
    /// Clients and workers use this.
    pub(crate) fn db(&self) -> &Db {
        &self.db
    }

    /// For looking at it with SQL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Runs one statement or several.
    pub(crate) async fn run_sql(&self, sql: &str) -> anyhow::Result<()> {
        let mut connection = PgConnection::connect(&self.url).await?;
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await?;
        Ok(connection.close().await?)
    }

    /// Measures `work`, which ends when its workers are gone, between two readings of the yardstick.
    ///
    /// # Errors
    /// Those of the work, and when a run did not complete: a number for work that failed would be a lie.
    pub(crate) async fn measure(&self, work: impl AsyncFnOnce() -> anyhow::Result<()>) -> anyhow::Result<(Line, Done)> {
        let before = yardstick::transactions_per_s(&self.url).await?;
        let meter = Meter::begin(&self.url).await?;
        work().await?;
        let (line, done) = meter.end().await?;
        let after = yardstick::transactions_per_s(&self.url).await?;
        let mut connection = PgConnection::connect(&self.url).await?;
        let failed: i64 =
            sqlx::query_scalar("select count(*) from flow.run r where r.status in ('failed', 'cancelled')")
                .fetch_one(&mut connection)
                .await?;
        connection.close().await?;
        ensure!(failed == 0, "{failed} runs did not complete");
        Ok((Line { yardstick_tps: rounded((before + after) / 2.0), ..line }, done))
    }
}
