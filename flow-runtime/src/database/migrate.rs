//! Brings a database to this program's schema: numbered migrations, and SQL functions by checksum. Installs PGMQ on request.
//!
//! The statements of a migration are unnamed and run in one transaction, because a pooler may hand the server process on between two
//! statements outside of a transaction, and prepared statements are lost then.

mod check;
mod checksum;
mod functions;
mod pgmq;
mod replace;
pub(crate) mod versions;

use sha2::{Digest, Sha256};
use sqlx::{
    Connection, PgConnection,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use self::{
    check::check_interface,
    checksum::{checksum, hex, stored_checksums},
    functions::FUNCTIONS,
    versions::{FUNCTIONS_VERSION, MIGRATIONS},
};
use crate::{
    database::backend,
    error::{DbError, MigrateError},
};

pub(crate) use self::check::check_schema;

/// The key of the advisory lock under which one process at a time migrates a database: `flow` in bytes, then 1. Programs of every version
/// must use the same key.
const MIGRATION_LOCK: i64 = 0x666c_6f77_0001;

/// A hash over everything that [`Db::migrate`](crate::Db::migrate) applies: programs with the same fingerprint make the same schema.
pub fn schema_fingerprint() -> String {
    let mut hash = Sha256::new();
    hash.update(FUNCTIONS_VERSION.to_le_bytes());
    let functions = FUNCTIONS.iter().map(functions::Function::statements);
    for text in MIGRATIONS.iter().map(ToString::to_string).chain(functions) {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    hex(&hash.finalize())
}

/// Brings the database to this program's schema. When many processes call this at once, one works and the others wait.
///
/// A database with a newer schema that still supports this program's interface is left as it is.
pub(crate) async fn migrate(connection: &mut PgConnection) -> Result<(), MigrateError> {
    refuse_encoding(connection).await?;
    let mut transaction = connection.begin().await.map_err(DbError::from)?;
    if !is_up_to_date(&mut transaction).await? {
        lock_migrations(&mut transaction).await?;
        if !is_up_to_date(&mut transaction).await? {
            apply(&mut transaction).await?;
        }
    }
    transaction.commit().await.map_err(DbError::from)?;
    Ok(())
}

/// Installs PGMQ, and sets the delivery of queues that are made from now on to pgmq.
pub(crate) async fn use_pgmq(connection: &mut PgConnection, options: &PgConnectOptions) -> Result<(), MigrateError> {
    let mut transaction = connection.begin().await.map_err(DbError::from)?;
    lock_migrations(&mut transaction).await?;
    install_pgmq(&mut transaction, options).await?;
    sqlx::query("select flow.set_setting('delivery', 'pgmq'::text)")
        .persistent(false)
        .execute(&mut *transaction)
        .await
        .map_err(DbError::from)?;
    transaction.commit().await.map_err(DbError::from)?;
    Ok(())
}

/// Keeps other migrations out until the transaction ends. The lock belongs to the transaction, since a pooler may hand a session with its
/// locks to another client.
async fn lock_migrations(transaction: &mut PgConnection) -> Result<(), DbError> {
    sqlx::query("select pg_advisory_xact_lock($1)").persistent(false).bind(MIGRATION_LOCK).execute(transaction).await?;
    Ok(())
}

/// Refuses a database whose encoding is not UTF8, since it cannot hold every text.
async fn refuse_encoding(connection: &mut PgConnection) -> Result<(), MigrateError> {
    let mut transaction = connection.begin().await.map_err(DbError::from)?;
    let encoding: String = sqlx::query_scalar("select getdatabaseencoding()::text")
        .persistent(false)
        .fetch_one(&mut *transaction)
        .await
        .map_err(DbError::from)?;
    if encoding == "UTF8" { Ok(()) } else { Err(MigrateError::Encoding { encoding }) }
}

/// Whether nothing is to be done: the schema is this program's, or is newer and still supports this program's interface.
async fn is_up_to_date(connection: &mut PgConnection) -> Result<bool, MigrateError> {
    let known: bool = sqlx::query_scalar("select to_regclass('flow.sql_function') is not null")
        .persistent(false)
        .fetch_one(&mut *connection)
        .await
        .map_err(DbError::from)?;
    if !known {
        return Ok(false);
    }
    let ours = (MIGRATIONS.len() as i32, FUNCTIONS_VERSION);
    let theirs = (stored_version(connection).await?, functions_version(connection).await?);
    if theirs > ours {
        check_interface(connection).await?;
        return Ok(true);
    }
    let stored = stored_checksums(connection).await?;
    let ours_by_name: Vec<(&str, String)> =
        FUNCTIONS.iter().map(|function| (function.name, checksum(&function.statements()))).collect();
    let is_same = ours_by_name.iter().all(|(name, sum)| stored.iter().any(|(n, c)| n == name && c == sum));
    if theirs == ours && !is_same && !is_development(connection).await? {
        return Err(MigrateError::OtherFunctions {
            version: FUNCTIONS_VERSION,
            stored: short_hash(stored.iter().map(|(name, checksum)| (name.as_str(), checksum.clone()))),
            ours: short_hash(ours_by_name.into_iter()),
        });
    }
    Ok(theirs == ours && is_same)
}

/// A hash of eight hexadecimal digits over a set of functions, for an error that tells two sets apart.
fn short_hash<'a>(functions: impl Iterator<Item = (&'a str, String)>) -> String {
    let mut lines: Vec<String> = functions.map(|(name, checksum)| format!("{name} {checksum}")).collect();
    lines.sort();
    checksum(&lines.join("\n"))[..8].to_owned()
}

async fn is_development(connection: &mut PgConnection) -> Result<bool, DbError> {
    let find =
        "select exists (select from flow.setting s where s.name = 'environment' and s.value = '\"development\"')";
    Ok(sqlx::query_scalar(find).persistent(false).fetch_one(connection).await?)
}

/// The version of the functions that the database has; 0 when it has none.
async fn functions_version(connection: &mut PgConnection) -> Result<i32, DbError> {
    let find = "select coalesce((select s.value::integer from flow.setting s where s.name = 'functions'), 0)";
    Ok(sqlx::query_scalar(find).persistent(false).fetch_one(connection).await?)
}

/// The version of the newest migration that was applied; 0 when none was.
async fn stored_version(connection: &mut PgConnection) -> Result<i32, DbError> {
    Ok(sqlx::query_scalar("select coalesce(max(m.version), 0) from flow.migration m")
        .persistent(false)
        .fetch_one(connection)
        .await?)
}

/// Whether another edition of flow has made the schema: the database has a migration of the same number as one of this program, with
/// another text.
pub(crate) async fn is_of_other_edition(connection: &mut PgConnection) -> Result<bool, DbError> {
    let known: bool = sqlx::query_scalar("select to_regclass('flow.migration') is not null")
        .persistent(false)
        .fetch_one(&mut *connection)
        .await?;
    if !known {
        return Ok(false);
    }
    let applied = applied_migrations(connection).await?;
    let ours = |version: i32| usize::try_from(version - 1).ok().and_then(|place| MIGRATIONS.get(place));
    Ok(applied.iter().any(|(version, stored)| ours(*version).is_some_and(|text| checksum(text) != *stored)))
}

/// Eight hexadecimal digits of the first migration's checksum, which tell this edition of flow from others.
pub(crate) fn edition() -> String {
    MIGRATIONS.first().map_or_else(String::new, |text| checksum(text)[..8].to_owned())
}

async fn applied_migrations(connection: &mut PgConnection) -> Result<Vec<(i32, String)>, DbError> {
    let applied = sqlx::query_as("select m.version, m.checksum from flow.migration m").persistent(false);
    Ok(applied.fetch_all(connection).await?)
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

    let applied = applied_migrations(connection).await?;
    for (version, text) in (1..).zip(MIGRATIONS.iter().copied()) {
        match applied.iter().find(|(v, _)| *v == version) {
            Some((_, stored)) if *stored == checksum(text) => {}
            Some(_) => return Err(MigrateError::Changed { version }),
            None => {
                sqlx::raw_sql(text).execute(&mut *connection).await.map_err(DbError::from)?;
                sqlx::query("insert into flow.migration (version, checksum) values ($1, $2)")
                    .persistent(false)
                    .bind(version)
                    .bind(checksum(text))
                    .execute(&mut *connection)
                    .await
                    .map_err(DbError::from)?;
                tracing::info!(version, "migration applied");
            }
        }
    }

    replace::replace_functions(connection).await?;
    sqlx::query(
        "insert into flow.setting (name, value) values ('functions', to_jsonb($1))
         on conflict (name) do update set value = excluded.value",
    )
    .persistent(false)
    .bind(FUNCTIONS_VERSION)
    .execute(connection)
    .await
    .map_err(DbError::from)?;
    Ok(())
}

/// Installs PGMQ's SQL, unless the extension or PGMQ's SQL file was installed in a version that is recent enough.
async fn install_pgmq(transaction: &mut PgConnection, options: &PgConnectOptions) -> Result<(), MigrateError> {
    if pgmq::is_installed_elsewhere(transaction).await? {
        return Ok(());
    }
    // The crate needs a pool of its own, because the transaction that holds the lock stays open meanwhile.
    let pool = PgPoolOptions::new()
        .max_connections(2)
        .after_connect(|connection, _| Box::pin(backend::prepare(connection)))
        .connect_lazy_with(options.clone());
    let installed = ::pgmq::install::install_sql_from_embedded(&pool).await;
    pool.close().await;
    installed.map_err(|error| match error {
        ::pgmq::PgmqError::DatabaseError(error) => DbError::from(error).into(),
        other => MigrateError::Pgmq(Box::new(other)),
    })
}
