//! How long each call of the database may take. After its deadline a call's connection counts as broken and is dropped.
//!
//! docs/operations.md has the same table for people. A caller's own transaction has no deadline.

use std::time::Duration;

use crate::error::DbError;

/// One attempt to connect to a server, settings included.
pub(crate) const CONNECT: Duration = Duration::from_secs(5);

/// One exchange of a worker: settling up to 1,000 results and claiming.
pub(crate) const EXCHANGE: Duration = Duration::from_secs(30);

/// One heartbeat, one step of a recovery, one look at a flow's queues, and ending the server process of a lost connection.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(10);

/// One call that removes old runs: some ten thousand rows, which may have to be read from a slow disk.
pub(crate) const KEEP_HOUSE: Duration = Duration::from_secs(60);

/// Giving work back, and marking a worker or a process stopped.
pub(crate) const RELEASE: Duration = Duration::from_secs(20);

/// Starting runs, and cancelling a run: a run with a very large map takes a while to cancel.
pub(crate) const START: Duration = Duration::from_secs(60);

/// Reading one run, one step of a run or a run's progress; and checking a worker's name.
pub(crate) const READ: Duration = Duration::from_secs(10);

/// One look at all runs that are waited for, one telling of other programs, and each call of the listening connection.
pub(crate) const POLL: Duration = Duration::from_secs(5);

/// Deploying a flow, and registering a worker; another program may hold the flow's lock meanwhile.
pub(crate) const DEPLOY: Duration = Duration::from_secs(60);

/// Migrating the schema, or installing PGMQ; other programs may hold the migration's lock meanwhile.
pub(crate) const MIGRATE: Duration = Duration::from_secs(300);

/// Returns the call's result. A call that does not answer within `limit` fails as a lost connection does.
pub(crate) async fn in_time<T, E: From<sqlx::Error>>(
    limit: Duration,
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    tokio::time::timeout(limit, call).await.unwrap_or_else(|_| Err(no_answer().into()))
}

/// The error of a reply that did not come.
pub(crate) fn connection_lost() -> DbError {
    no_answer().into()
}

fn no_answer() -> sqlx::Error {
    std::io::Error::new(std::io::ErrorKind::TimedOut, "the database did not answer in time").into()
}
