//! What a call has brought about that others wait for, and the call that tells other programs.

use std::collections::BTreeSet;

use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    database::{deadline, pool::SharedPool, store::call::Call},
    error::DbError,
};

/// What a call has brought about that others wait for.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct News {
    /// Queues that got work which is due.
    pub(crate) queues: BTreeSet<i32>,
    /// Runs that have ended.
    pub(crate) runs: BTreeSet<Uuid>,
    /// Workers that hold work which was ended.
    pub(crate) workers: BTreeSet<i64>,
}

/// The columns in which a call returns its news. Columns that a function does not have read as no news.
#[derive(sqlx::FromRow)]
pub(super) struct NewsColumns {
    #[sqlx(default)]
    p_tell_queues: Option<Vec<i32>>,
    #[sqlx(default)]
    p_tell_runs: Option<Vec<Uuid>>,
    #[sqlx(default)]
    p_tell_workers: Option<Vec<i64>>,
}

impl From<NewsColumns> for News {
    fn from(columns: NewsColumns) -> Self {
        Self {
            queues: columns.p_tell_queues.into_iter().flatten().collect(),
            runs: columns.p_tell_runs.into_iter().flatten().collect(),
            workers: columns.p_tell_workers.into_iter().flatten().collect(),
        }
    }
}

impl News {
    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty() && self.runs.is_empty() && self.workers.is_empty()
    }

    /// Adds the news of another call.
    pub(crate) fn add(&mut self, other: Self) {
        self.queues.extend(other.queues);
        self.runs.extend(other.runs);
        self.workers.extend(other.workers);
    }

    fn call(&self, origin: &str) -> Call {
        Call::new("select flow.tell_others")
            .arg(&Vec::from_iter(self.queues.iter().copied()))
            .arg(&Vec::from_iter(self.runs.iter().copied()))
            .arg(&Vec::from_iter(self.workers.iter().copied()))
            .arg(origin)
    }
}

/// Tells other programs, as the program called `origin`, over a connection of the pool.
pub(crate) async fn tell_others(pool: &SharedPool, news: &News, origin: &str) -> sqlx::Result<()> {
    news.call(origin).rows(pool, deadline::POLL).await.map(drop)
}

/// Tells other programs, as the program called `origin`, over the caller's own connection.
pub(crate) async fn tell_others_over(connection: &mut PgConnection, news: &News, origin: &str) -> Result<(), DbError> {
    news.call(origin).rows_over(connection).await?;
    Ok(())
}
