//! Calls over the pool that clients share: each has a deadline, and a connection that may be broken does not go back.

use std::time::Duration;

use sqlx::{Connection, PgConnection, PgPool};

use super::{deadline, in_time};
use crate::error::breaks_connection;

/// Makes one call over a connection of the pool. Past `limit`, and after an error that says that the connection may be broken, the
/// connection is dropped.
///
/// # Errors
/// The call's, as the driver has it.
pub(crate) async fn with_connection<T>(
    pool: &PgPool,
    limit: Duration,
    call: impl AsyncFnOnce(&mut PgConnection) -> sqlx::Result<T>,
) -> sqlx::Result<T> {
    let mut connection = match in_time(2 * deadline::CONNECT, pool.acquire()).await {
        Ok(connection) => connection,
        Err(sqlx::Error::PoolTimedOut) => return without_pool(pool, limit, call).await,
        Err(error) => return Err(error),
    };
    let called = in_time(limit, call(&mut connection)).await;
    if called.as_ref().is_err_and(breaks_connection) {
        drop(connection.detach());
    }
    called
}

/// The pool had no connection in time: its idle ones may be frozen, which it finds out one by one, or the server takes no more, and the
/// pool keeps what the server says to itself. A connection made for this call alone serves it, or tells why there is none.
async fn without_pool<T>(
    pool: &PgPool,
    limit: Duration,
    call: impl AsyncFnOnce(&mut PgConnection) -> sqlx::Result<T>,
) -> sqlx::Result<T> {
    let mut connection = in_time(deadline::CONNECT, PgConnection::connect_with(&pool.connect_options())).await?;
    let called = in_time(limit, call(&mut connection)).await;
    let _ = in_time(deadline::CONNECT, connection.close()).await;
    called
}
