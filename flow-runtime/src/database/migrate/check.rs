//! Checks that a database which somebody else migrates has everything that this program relies on.

use std::collections::BTreeSet;

use sqlx::PgConnection;

use crate::{
    database::migrate::versions::{INTERFACE, MIGRATIONS},
    error::{DbError, MigrateError},
};

/// The objects of a freshly migrated database, one a line, sorted. The test `migrate::the_check_expects_what_a_migration_makes` writes and
/// compares the file.
const EXPECTED: &str = include_str!("objects.txt");

/// Lists the objects of a database in the form of [`EXPECTED`].
const LIST_OBJECTS: &str = include_str!("objects.sql");

/// The version and the interfaces that the schema states.
#[derive(sqlx::FromRow)]
struct Stored {
    /// The version of the newest migration that was applied.
    version: i32,
    oldest: Option<i32>,
    newest: Option<i32>,
}

/// Refuses a database whose oldest supported interface is newer than this program's.
pub(crate) async fn check_interface(connection: &mut PgConnection) -> Result<(), MigrateError> {
    judge_interface(&read_stored(connection).await?)
}

/// Refuses a database whose oldest supported interface is newer than this program's, and one that lacks anything which this program or its
/// SQL uses; the error names everything that is missing.
///
/// The objects of a newer schema may differ behind its interface, so for a newer schema only the interface's number is checked.
pub(crate) async fn check_schema(connection: &mut PgConnection) -> Result<(), MigrateError> {
    let stored = read_stored(connection).await;
    if let Ok(stored) = &stored {
        judge_interface(stored)?;
        if stored.version > MIGRATIONS.len() as i32 {
            return Ok(());
        }
    }
    let found: BTreeSet<String> = sqlx::query_scalar(LIST_OBJECTS)
        .persistent(false)
        .fetch_all(connection)
        .await
        .map_err(DbError::from)?
        .into_iter()
        .collect();
    let missing = missing_from(&found);
    let is_begun = found.iter().any(|object| object.contains(" flow."));
    if !missing.is_empty() && is_begun {
        return Err(MigrateError::Incomplete { missing });
    }
    // Without any schema, or without the right to read it, the server's own error is returned.
    stored?;
    Ok(())
}

async fn read_stored(connection: &mut PgConnection) -> Result<Stored, DbError> {
    Ok(sqlx::query_as(
        "select (select coalesce(max(m.version), 0) from flow.migration m) as version,
                (select (s.value)::integer from flow.setting s where s.name = 'oldest_interface') as oldest,
                (select (s.value)::integer from flow.setting s where s.name = 'interface') as newest",
    )
    .persistent(false)
    .fetch_one(connection)
    .await?)
}

fn judge_interface(stored: &Stored) -> Result<(), MigrateError> {
    match (stored.oldest, stored.newest) {
        (Some(oldest), Some(newest)) if INTERFACE < oldest => {
            Err(MigrateError::TooNew { ours: INTERFACE, oldest, newest })
        }
        (Some(_), Some(_)) => Ok(()),
        _ => Err(MigrateError::Incomplete { missing: vec!["the interface's number in flow.setting".to_owned()] }),
    }
}

/// The expected objects that were not found, for the error text. A missing table stands for its columns and for the functions that take
/// its rows, which are left out.
fn missing_from(found: &BTreeSet<String>) -> Vec<String> {
    let is_found = |object: &str| found.contains(object);
    let is_owned_by_a_missing_one = |object: &str| {
        let owner = object.strip_prefix("column ").and_then(|column| column.rsplit_once('.')).map(|(owner, _)| owner);
        owner.is_some_and(|owner| ["table", "view", "type"].iter().all(|kind| !is_found(&format!("{kind} {owner}"))))
    };
    let tables = || EXPECTED.lines().filter_map(|object| object.strip_prefix("table "));
    let takes_rows_of_a_missing_one = |object: &str| {
        let is_first = |table: &str| [',', ')'].iter().any(|end| object.contains(&format!("({table}{end}")));
        let is_taken = |table: &str| is_first(table) && !is_found(&format!("table {table}"));
        object.starts_with("function ") && tables().any(is_taken)
    };
    let missing = EXPECTED.lines().filter(|object| {
        !is_found(object) && !is_owned_by_a_missing_one(object) && !takes_rows_of_a_missing_one(object)
    });
    missing
        .map(|object| match object.strip_prefix("table ") {
            Some(table) if is_found(&format!("view {table}")) => format!("{object} (a view stands in its place)"),
            _ => object.to_owned(),
        })
        .collect()
}
