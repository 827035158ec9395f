//! Brings a database to this program's schema: PGMQ, numbered migrations, and SQL functions by checksum.

mod check;

use sha2::{Digest, Sha256};
use sqlx::{Connection, PgConnection, PgPool, postgres::PgPoolOptions};

use crate::error::{DbError, MigrateError};

use check::check_interface;
pub(crate) use check::check_schema;

/// The number of the SQL interface this program speaks.
pub(crate) const INTERFACE: i32 = 1;

/// The lock under which one process at a time migrates a database. Any fixed number does.
const MIGRATION_LOCK: i64 = 0x666c_6f77_0001;

/// The oldest PGMQ whose tables the engine knows.
const OLDEST_PGMQ: (u32, u32) = (1, 11);

/// Numbered migrations, in order; the first has version 1.
const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_engine.sql")];

macro_rules! sql_files {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("../sql/", $name, ".sql")))),*] };
}

/// SQL functions and views, one a file, in the order of their making: views come last.
const FUNCTIONS: &[(&str, &str)] = sql_files![
    "advance_steps",
    "apply_settlements",
    "cancel_run",
    "claim_tasks",
    "claim_unusual",
    "complete_tasks",
    "condition_errors",
    "copy_steps",
    "count_down_dependents",
    "create_flow",
    "create_queue",
    "definition_errors",
    "delete_flow",
    "deploy",
    "deprecate",
    "disable_worker",
    "drain_flow",
    "enable_worker",
    "element_count",
    "end_runs",
    "end_tasks",
    "ended_runs",
    "enqueue_tasks",
    "exchange",
    "fail_tasks",
    "fail_unmet_runs",
    "finish_runs",
    "get_run",
    "get_step",
    "json_differences",
    "judge_settlements",
    "list_contract",
    "list_queues",
    "lock_slug",
    "lock_starts",
    "notify_ids",
    "option_errors",
    "pause_queue",
    "prune",
    "queue_count",
    "queue_hidden",
    "queue_hide",
    "queue_prune",
    "queue_read",
    "queue_remove",
    "queue_send",
    "read_json",
    "read_message",
    "read_outputs",
    "refuse_batch",
    "refuse_disabled",
    "refuse_queue_change",
    "register_worker",
    "release_tasks",
    "renew_leases",
    "requeue_tasks",
    "resume_queue",
    "resume_tasks",
    "retry_delay",
    "retry_run",
    "run_progress",
    "set_on_remove",
    "set_setting",
    "shared_values",
    "shape_differences",
    "skip_dependents",
    "skip_failed_steps",
    "slug_error",
    "start_run",
    "start_runs",
    "start_steps",
    "step_items",
    "step_names",
    "step_options",
    "step_queue_name",
    "stop_worker",
    "test_conditions",
    "undeprecate",
    "unserved_queues",
    "update_contract",
    "update_options",
    "uuid_v7",
    "withdraw_drain",
    "worker_state",
    "show_queues",
    "show_runs",
    "show_steps",
    "show_tasks",
];

/// A hash over everything that [`Db::migrate`](crate::Db::migrate) applies: two programs with one fingerprint make the same schema.
pub fn schema_fingerprint() -> String {
    let mut hash = Sha256::new();
    for text in MIGRATIONS.iter().chain(FUNCTIONS.iter().map(|(_, text)| text)) {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    hex(&hash.finalize())
}

/// Brings the database to this program's schema. Many processes may do so at once; one works, the others wait.
///
/// A database with a newer schema that still speaks this program's interface is left as it is.
pub(crate) async fn migrate(pool: &PgPool) -> Result<(), MigrateError> {
    // A pool of its own: the lock's connection stays busy while PGMQ is installed over a second one.
    let own = PgPoolOptions::new().max_connections(2).connect_lazy_with((*pool.connect_options()).clone());
    let migrated = migrate_with(&own).await;
    own.close().await;
    migrated
}

async fn migrate_with(pool: &PgPool) -> Result<(), MigrateError> {
    let mut locked = PgConnection::connect_with(&pool.connect_options()).await.map_err(DbError::from)?;
    if is_up_to_date(&mut locked).await? {
        return locked.close().await.map_err(|error| DbError::from(error).into());
    }
    sqlx::query("select pg_advisory_lock($1)")
        .bind(MIGRATION_LOCK)
        .execute(&mut locked)
        .await
        .map_err(DbError::from)?;
    let migrated = migrate_locked(pool, &mut locked).await;
    // Closing the connection gives the lock back, also after an error.
    let _ = locked.close().await;
    migrated
}

async fn migrate_locked(pool: &PgPool, locked: &mut PgConnection) -> Result<(), MigrateError> {
    if is_up_to_date(locked).await? {
        return Ok(());
    }
    install_pgmq(pool, locked).await?;
    let mut transaction = locked.begin().await.map_err(DbError::from)?;
    apply(&mut transaction).await?;
    transaction.commit().await.map_err(DbError::from)?;
    Ok(())
}

/// Whether nothing is to be done: the schema is this program's, or a newer one that still speaks its interface.
async fn is_up_to_date(connection: &mut PgConnection) -> Result<bool, MigrateError> {
    let known: bool = sqlx::query_scalar("select to_regclass('flow.sql_function') is not null")
        .fetch_one(&mut *connection)
        .await
        .map_err(DbError::from)?;
    if !known {
        return Ok(false);
    }
    let version = stored_version(connection).await?;
    if version > MIGRATIONS.len() as i32 {
        check_interface(connection).await?;
        return Ok(true);
    }
    let stored = stored_checksums(connection).await?;
    Ok(version == MIGRATIONS.len() as i32
        && FUNCTIONS.iter().all(|(name, text)| stored.iter().any(|(n, c)| n == name && *c == checksum(text))))
}

/// The version of the newest migration applied; 0 before the first.
async fn stored_version(connection: &mut PgConnection) -> Result<i32, DbError> {
    Ok(sqlx::query_scalar("select coalesce(max(m.version), 0) from flow.migration m").fetch_one(connection).await?)
}

async fn stored_checksums(connection: &mut PgConnection) -> Result<Vec<(String, String)>, DbError> {
    Ok(sqlx::query_as("select f.name, f.checksum from flow.sql_function f").fetch_all(connection).await?)
}

/// Applies what is missing: migrations by number, then each function whose checksum differs.
async fn apply(connection: &mut PgConnection) -> Result<(), MigrateError> {
    sqlx::raw_sql(
        "create schema if not exists flow;
         create table if not exists flow.migration (
             version integer primary key, checksum text not null, applied_at timestamptz not null default now());
         create table if not exists flow.sql_function (name text primary key, checksum text not null);
         -- Functions name each other in any order; each is checked when it first runs.
         set local check_function_bodies = off;",
    )
    .execute(&mut *connection)
    .await
    .map_err(DbError::from)?;

    let applied: Vec<(i32, String)> = sqlx::query_as("select m.version, m.checksum from flow.migration m")
        .fetch_all(&mut *connection)
        .await
        .map_err(DbError::from)?;
    for (version, text) in (1..).zip(MIGRATIONS.iter().copied()) {
        match applied.iter().find(|(v, _)| *v == version) {
            Some((_, stored)) if *stored == checksum(text) => {}
            Some(_) => return Err(MigrateError::Changed { version }),
            None => {
                sqlx::raw_sql(text).execute(&mut *connection).await.map_err(DbError::from)?;
                sqlx::query("insert into flow.migration (version, checksum) values ($1, $2)")
                    .bind(version)
                    .bind(checksum(text))
                    .execute(&mut *connection)
                    .await
                    .map_err(DbError::from)?;
                tracing::info!(version, "migration applied");
            }
        }
    }

    let stored = stored_checksums(connection).await?;
    for (name, text) in FUNCTIONS.iter().copied() {
        if stored.iter().any(|(n, c)| n == name && *c == checksum(text)) {
            continue;
        }
        sqlx::raw_sql(text).execute(&mut *connection).await.map_err(|error| {
            tracing::error!(name, "SQL function not applied");
            DbError::from(error)
        })?;
        sqlx::query(
            "insert into flow.sql_function (name, checksum) values ($1, $2)
             on conflict (name) do update set checksum = excluded.checksum",
        )
        .bind(name)
        .bind(checksum(text))
        .execute(&mut *connection)
        .await
        .map_err(DbError::from)?;
    }
    Ok(())
}

/// Installs PGMQ's SQL, unless the extension or a recent enough schema is there.
async fn install_pgmq(pool: &PgPool, locked: &mut PgConnection) -> Result<(), MigrateError> {
    let extension: Option<String> =
        sqlx::query_scalar("select e.extversion from pg_extension e where e.extname = 'pgmq'")
            .fetch_optional(&mut *locked)
            .await
            .map_err(DbError::from)?;
    if let Some(version) = extension {
        return if parse_version(&version) >= OLDEST_PGMQ { Ok(()) } else { Err(MigrateError::OldPgmq { version }) };
    }
    pgmq::install::install_sql_from_embedded(pool).await.map_err(|error| MigrateError::Pgmq(Box::new(error)))
}

fn parse_version(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

fn checksum(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
