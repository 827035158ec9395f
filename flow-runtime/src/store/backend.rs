//! The server's process behind a connection.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use crate::error::DbError;

/// The server's process behind one connection: its start tells it from a later process with the same id.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct Backend {
    pid: i32,
    backend_start: DateTime<Utc>,
}

/// The process behind this connection.
pub(crate) async fn backend(connection: &mut PgConnection) -> Result<Backend, DbError> {
    let own = "select a.pid, a.backend_start from pg_stat_activity a where a.pid = pg_backend_pid()";
    Ok(sqlx::query_as(own).fetch_one(connection).await?)
}

/// Ends the process behind a lost connection, if it still runs, and waits up to 5 s until it is gone: what it was doing has
/// been committed or rolled back then, and nothing of it can come later.
pub(crate) async fn end_backend(connection: &mut PgConnection, backend: &Backend) -> Result<(), DbError> {
    sqlx::query(
        "select pg_terminate_backend(a.pid, 5000) from pg_stat_activity a where a.pid = $1 and a.backend_start = $2",
    )
    .bind(backend.pid)
    .bind(backend.backend_start)
    .execute(connection)
    .await?;
    Ok(())
}
