//! Reads the counters of the server and of this process before and after.

use std::time::Duration;

use sqlx::{Connection, PgConnection};

/// Linux shows 100 ticks a second on every common machine.
const MICROSECONDS_A_TICK: f64 = 10_000.0;

/// What was used between two readings.
pub(crate) struct Usage {
    /// CPU of the server's processes in microseconds; `None` where /proc does not show them.
    pub(crate) server_cpu_us: Option<f64>,
    /// The same of this process.
    pub(crate) client_cpu_us: Option<f64>,
    pub(crate) wal_bytes: f64,
    pub(crate) commits: f64,
}

/// A reading to which a later one is compared.
pub(crate) struct Meter {
    connection: PgConnection,
    began: Reading,
}

struct Reading {
    server_cpu_us: Option<f64>,
    client_cpu_us: Option<f64>,
    wal_bytes: f64,
    commits: i64,
}

impl Meter {
    pub(crate) async fn begin(url: &str) -> anyhow::Result<Self> {
        let mut connection = PgConnection::connect(url).await?;
        let began = read(&mut connection).await?;
        Ok(Self { connection, began })
    }

    /// Ends all other connections to the database, because a connection reports its last commits when it ends.
    pub(crate) async fn end(&mut self) -> anyhow::Result<Usage> {
        let ended = read(&mut self.connection).await?;
        sqlx::query(
            "select pg_terminate_backend(a.pid) from pg_stat_activity a
             where a.datname = current_database() and a.pid <> pg_backend_pid()",
        )
        .execute(&mut self.connection)
        .await?;
        tokio::time::sleep(Duration::from_millis(500)).await;
        let commits = read_commits(&mut self.connection).await?;
        let began = &self.began;
        Ok(Usage {
            server_cpu_us: ended.server_cpu_us.zip(began.server_cpu_us).map(|(ended, began)| ended - began),
            client_cpu_us: ended.client_cpu_us.zip(began.client_cpu_us).map(|(ended, began)| ended - began),
            wal_bytes: ended.wal_bytes - began.wal_bytes,
            commits: (commits - began.commits) as f64,
        })
    }
}

async fn read(connection: &mut PgConnection) -> anyhow::Result<Reading> {
    let (own, wal_bytes): (i32, f64) =
        sqlx::query_as("select pg_backend_pid(), (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8")
            .fetch_one(&mut *connection)
            .await?;
    let commits = read_commits(connection).await?;
    Ok(Reading { server_cpu_us: server_cpu_us(own), client_cpu_us: own_cpu_us(), wal_bytes, commits })
}

async fn read_commits(connection: &mut PgConnection) -> anyhow::Result<i64> {
    Ok(sqlx::query_scalar("select d.xact_commit from pg_stat_database d where d.datname = current_database()")
        .fetch_one(connection)
        .await?)
}

/// The CPU time of all processes of the server that `backend` belongs to, those that have ended included.
fn server_cpu_us(backend: i32) -> Option<f64> {
    let postmaster = stat_field(&read_stat(&backend.to_string())?, 3)?;
    let mut ticks = 0.0;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        if stat_field(&stat, 3) == Some(postmaster) {
            ticks += stat_field(&stat, 13)? + stat_field(&stat, 14)?;
        }
    }
    // Children that have ended are summed up in the postmaster's own line.
    let stat = read_stat(&(postmaster as i32).to_string())?;
    ticks += stat_field(&stat, 15)? + stat_field(&stat, 16)?;
    Some(ticks * MICROSECONDS_A_TICK)
}

fn own_cpu_us() -> Option<f64> {
    let stat = read_stat("self")?;
    Some((stat_field(&stat, 13)? + stat_field(&stat, 14)?) * MICROSECONDS_A_TICK)
}

fn read_stat(process: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{process}/stat")).ok()
}

/// Field `index` of a line of /proc/PID/stat, counted from 0; the name in field 1 may hold spaces.
fn stat_field(stat: &str, index: usize) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(index - 2)?.parse().ok()
}
