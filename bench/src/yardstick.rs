//! What this machine gives just now: a fixed script that has nothing to do with flow, so that runs can be compared as ratios.
//!
//! Four connections change one account of 100,000, read it back and note the change, as `pgbench -N` does, for a second.

use std::time::{Duration, Instant};

use sqlx::{Connection, PgConnection};
use tokio::task::JoinSet;

const CONNECTIONS: i64 = 4;
const LENGTH: Duration = Duration::from_secs(1);

/// Makes the script's tables.
pub(crate) async fn prepare(url: &str) -> sqlx::Result<()> {
    let mut connection = PgConnection::connect(url).await?;
    let tables = "create schema yardstick;
        create table yardstick.account (id integer primary key, balance bigint not null) with (fillfactor = 70);
        create table yardstick.history (id integer not null, change bigint not null, at timestamptz not null default now());
        insert into yardstick.account select n, 0 from generate_series(1, 100000) n;
        vacuum analyze yardstick.account;";
    for statement in tables.split_terminator(';').filter(|statement| !statement.trim().is_empty()) {
        sqlx::query(statement).execute(&mut connection).await?;
    }
    connection.close().await
}

/// Transactions a second.
pub(crate) async fn transactions_per_s(url: &str) -> anyhow::Result<f64> {
    let mut lanes = JoinSet::new();
    for lane in 0..CONNECTIONS {
        let url = url.to_owned();
        lanes.spawn(async move { transact(&url, lane).await });
    }
    let mut sum = 0.0;
    while let Some(lane) = lanes.join_next().await {
        sum += lane??;
    }
    Ok(sum.round())
}

async fn transact(url: &str, lane: i64) -> sqlx::Result<f64> {
    let mut connection = PgConnection::connect(url).await?;
    let began_at = Instant::now();
    let mut done = 0_i64;
    while began_at.elapsed() < LENGTH {
        // Spread over the table, the same accounts each time.
        let id = ((done * CONNECTIONS + lane) * 7919 % 100_000 + 1) as i32;
        let mut transaction = connection.begin().await?;
        sqlx::query("update yardstick.account set balance = balance + $1 where id = $2")
            .bind(done)
            .bind(id)
            .execute(&mut *transaction)
            .await?;
        sqlx::query("select balance from yardstick.account where id = $1").bind(id).execute(&mut *transaction).await?;
        sqlx::query("insert into yardstick.history (id, change) values ($1, $2)")
            .bind(id)
            .bind(done)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        done += 1;
    }
    let rate = done as f64 / began_at.elapsed().as_secs_f64();
    connection.close().await?;
    Ok(rate)
}
