//! Replaces the functions and views in a database by those of this program.

use sqlx::{Connection, PgConnection};

use crate::{
    database::migrate::{
        checksum::{checksum, stored_checksums},
        functions::{FUNCTIONS, Function},
    },
    error::{DbError, sqlstate},
};

/// Makes each function and view whose checksum differs, and removes the functions and views that this program does not have.
pub(super) async fn replace_functions(connection: &mut PgConnection) -> Result<(), DbError> {
    let mut stored = stored_checksums(connection).await?;
    // Views are removed before functions, because they read functions.
    stored.sort_by_key(|(name, _)| !name.starts_with(VIEW));
    for (name, _) in stored.extract_if(.., |(name, _)| FUNCTIONS.iter().all(|function| function.name != name)) {
        remove(connection, &name).await?;
    }
    for function in FUNCTIONS {
        let sum = checksum(&function.statements());
        if stored.iter().any(|(name, stored)| name == function.name && *stored == sum) {
            continue;
        }
        if !try_make(connection, function).await? {
            // A view that reads the function would keep it from being dropped, so all views are removed; the end of the list makes them
            // anew.
            for (name, _) in stored.extract_if(.., |(name, _)| name.starts_with(VIEW)) {
                remove(connection, &name).await?;
            }
            remove(connection, function.name).await?;
            make(connection, function).await?;
        }
        sqlx::query(
            "insert into flow.sql_function (name, checksum) values ($1, $2)
             on conflict (name) do update set checksum = excluded.checksum",
        )
        .persistent(false)
        .bind(function.name)
        .bind(sum)
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// What the name of a view's file begins with.
const VIEW: &str = "show_";

/// Makes the function or view. Returns false, and changes nothing, when an older one must be removed first: one with another result, or a
/// function of the same name with other parameters.
async fn try_make(connection: &mut PgConnection, function: &Function) -> Result<bool, DbError> {
    let mut savepoint = connection.begin().await?;
    let sole = "select count(*) <= 1 from pg_proc p where p.pronamespace = to_regnamespace('flow') and p.proname = $1";
    let is_made = match make(&mut savepoint, function).await {
        Ok(()) => sqlx::query_scalar(sole).persistent(false).bind(function.name).fetch_one(&mut *savepoint).await?,
        Err(error) if matches!(sqlstate(&error).as_deref(), Some("42P13" | "42P16")) => false,
        Err(error) => {
            tracing::error!(name = function.name, "SQL function not applied");
            return Err(error.into());
        }
    };
    if is_made {
        savepoint.commit().await?
    } else {
        savepoint.rollback().await?
    }
    Ok(is_made)
}

async fn make(connection: &mut PgConnection, function: &Function) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(sqlx::AssertSqlSafe(function.statements())).execute(connection).await?;
    Ok(())
}

/// Removes the view of a file, or every function with the file's name, and forgets its checksum.
async fn remove(connection: &mut PgConnection, name: &str) -> Result<(), DbError> {
    let drops = if let Some(view) = name.strip_prefix(VIEW) {
        vec![format!("drop view if exists flow.{view}")]
    } else {
        let drops = "select format('drop function %s', p.oid::regprocedure) from pg_proc p
                     where p.pronamespace = to_regnamespace('flow') and p.proname = $1";
        sqlx::query_scalar(drops).persistent(false).bind(name).fetch_all(&mut *connection).await?
    };
    for drop in drops {
        sqlx::raw_sql(sqlx::AssertSqlSafe(drop)).execute(&mut *connection).await?;
    }
    sqlx::query("delete from flow.sql_function f where f.name = $1")
        .persistent(false)
        .bind(name)
        .execute(connection)
        .await?;
    Ok(())
}
