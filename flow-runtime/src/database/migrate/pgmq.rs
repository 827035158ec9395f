//! Finds out whether somebody else has installed PGMQ, and in a version whose tables the engine knows.

use sqlx::PgConnection;

use crate::error::{DbError, MigrateError};

/// The oldest version of the extension whose tables the engine knows.
const OLDEST: (u32, u32) = (1, 11);

/// What a database has of PGMQ.
#[derive(sqlx::FromRow)]
struct Found {
    /// The extension's version; `None` without the extension.
    extension: Option<String>,
    /// Whether PGMQ's type of messages is there.
    has_messages: bool,
    /// Whether the crate that installs PGMQ's SQL has recorded its installation, and so can update it.
    is_ours_to_update: bool,
    /// Whether messages have headers, as since PGMQ 1.5.
    has_headers: bool,
    /// Whether messages have the time at which they were last read, as since PGMQ 1.10.
    has_last_read: bool,
    /// Whether the functions that the engine calls are there.
    has_functions: bool,
}

const FIND: &str = "
    with message as (
        select a.attname from pg_attribute a
        where a.attrelid = to_regclass('pgmq.message_record') and a.attnum > 0 and not a.attisdropped
    )
    select (select e.extversion from pg_extension e where e.extname = 'pgmq') as extension,
           to_regclass('pgmq.message_record') is not null as has_messages,
           to_regclass('pgmq.__pgmq_migrations') is not null as is_ours_to_update,
           exists (select from message m where m.attname = 'headers') as has_headers,
           exists (select from message m where m.attname = 'last_read_at') as has_last_read,
           to_regprocedure('pgmq.create(text)') is not null and to_regprocedure('pgmq.drop_queue(text)') is not null
               and to_regprocedure('pgmq.validate_queue_name(text)') is not null
               and to_regclass('pgmq.meta') is not null as has_functions";

/// Whether somebody else has installed PGMQ, as an extension or from its SQL file.
///
/// # Errors
/// [`MigrateError::OldPgmq`], which names the version, when it is too old for the engine.
pub(super) async fn is_installed_elsewhere(connection: &mut PgConnection) -> Result<bool, MigrateError> {
    let found: Found = sqlx::query_as(FIND).persistent(false).fetch_one(connection).await.map_err(DbError::from)?;
    if let Some(version) = found.extension {
        return if parse(&version) >= OLDEST { Ok(true) } else { Err(MigrateError::OldPgmq { version }) };
    }
    if !found.has_messages || found.is_ours_to_update {
        return Ok(false);
    }
    // An installation from the SQL file records no version, so the version is told by its columns and functions.
    let version = match (found.has_headers, found.has_last_read && found.has_functions) {
        (_, true) => return Ok(true),
        (true, false) => "1.5 to 1.9, installed from its SQL file,",
        (false, false) => "before 1.5, installed from its SQL file,",
    };
    Err(MigrateError::OldPgmq { version: version.to_owned() })
}

fn parse(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}
