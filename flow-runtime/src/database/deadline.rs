//! How long each call of the database may take. Past it the connection counts as broken and is dropped.
//!
//! docs/operations.md has the same table for people. A caller's own transaction has no deadline.

use std::time::Duration;

use crate::error::DbError;

/// One attempt to connect, settings included.
pub(crate) const CONNECT: Duration = Duration::from_secs(5);

/// One exchange of a worker: settling up to 1,000 results and claiming.
pub(crate) const EXCHANGE: Duration = Duration::from_secs(30);

/// One heartbeat, which renews the lease, one step of a recovery, and the look at unserved queues.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(10);

/// One call that removes old runs: ten thousand rows, which may have to be read from a slow disk.
pub(crate) const KEEP_HOUSE: Duration = Duration::from_secs(60);

/// Giving tasks back, and saying goodbye.
pub(crate) const RELEASE: Duration = Duration::from_secs(20);

/// Starting runs, and cancelling one: a run of a very large map takes a while to cancel.
pub(crate) const START: Duration = Duration::from_secs(60);

/// ReadPosition one run, one step or the progress.
pub(crate) const READ: Duration = Duration::from_secs(10);

/// One look at all runs that are waited for, and each call of the listening connection.
pub(crate) const POLL: Duration = Duration::from_secs(5);

/// Deploying a flow; another program may hold the flow's lock meanwhile.
pub(crate) const DEPLOY: Duration = Duration::from_secs(60);

/// Migrating, PGMQ included; other programs may be at it first.
pub(crate) const MIGRATE: Duration = Duration::from_secs(300);

/// The call's result; a call that does not answer within `limit` counts as lost.
pub(crate) async fn in_time<T, E: From<sqlx::Error>>(
    limit: Duration,
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    tokio::time::timeout(limit, call).await.unwrap_or_else(|_| Err(no_answer().into()))
}

/// A reply that did not come.
pub(crate) fn connection_lost() -> DbError {
    no_answer().into()
}

fn no_answer() -> sqlx::Error {
    std::io::Error::new(std::io::ErrorKind::TimedOut, "the database did not answer in time").into()
}
