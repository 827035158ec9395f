//! A process: its registration, its heartbeat, and the recovery of work that other processes have lost.

use std::time::Duration;

use serde::Deserialize;
use sqlx::PgConnection;

use crate::{
    database::store::{
        answer::WorkerState,
        news::{News, NewsColumns},
        word::{Word, words},
        work::{Columns, WorkId},
    },
    error::DbError,
};

/// What a heartbeat tells about one worker of the process.
#[derive(Debug)]
pub(crate) struct WorkerPulse {
    pub(crate) worker_id: i64,
    /// The highest number that an exchange or a start of the worker has had.
    pub(crate) highest_batch: i64,
    /// The numbers of the exchange and the starts whose replies were not taken over yet.
    pub(crate) outstanding: Vec<i64>,
    /// The work that the worker holds, each piece with whether it has run well past its timeout without a result.
    pub(crate) held: Vec<(WorkId, bool)>,
}

/// Why a worker does not hold a piece of work any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WhyLost {
    /// The work's run was cancelled, or failed.
    Cancelled,
    /// The work's step was skipped.
    Skipped,
    /// The worker does not hold the work any more: the work waits again, was taken by another worker, or was settled.
    Taken,
    /// The work does not exist any more.
    Gone,
}

impl WhyLost {
    /// The reason as a word for the log.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
            Self::Taken => "taken",
            Self::Gone => "gone",
        }
    }
}

/// The state of a process, as the database answers a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ProcessState {
    /// The process's lease was renewed.
    Ok,
    /// The process's lease was over, and another process has ended this one.
    Ended,
}

/// The database's answer to a heartbeat.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The process was ended: what its workers held is to be recovered, and then the process to be revived.
    pub(crate) has_ended: bool,
    /// One state a worker, which says whether the worker may claim, with the reason why not.
    pub(crate) states: Vec<(WorkerState, String)>,
    /// The work that workers do not hold any more: the worker's place among the pulses, the work, and the reason.
    pub(crate) lost: Vec<(usize, WorkId, WhyLost)>,
    /// Other processes whose leases are over, each with the length of its lease.
    pub(crate) expired: Vec<(i64, Duration)>,
    /// Rows of hands that are to be recovered, each by worker and batch.
    pub(crate) rows: Vec<(i64, i64)>,
    /// How long from now until the next lease of another process is over.
    pub(crate) next_end: Option<Duration>,
    /// What is to be told to others, because the heartbeat has given work back.
    pub(crate) news: News,
}

#[derive(sqlx::FromRow)]
struct HeardRow {
    p_state: Word<ProcessState>,
    p_states: Option<Vec<Word<WorkerState>>>,
    p_reasons: Option<Vec<Option<String>>>,
    p_lost: Option<Vec<i64>>,
    p_lost_why: Option<Vec<Word<WhyLost>>>,
    p_expired: Option<Vec<i64>>,
    p_expired_leases_ms: Option<Vec<i64>>,
    p_row_workers: Option<Vec<i64>>,
    p_rows: Option<Vec<i64>>,
    p_next_ms: Option<i64>,
    #[sqlx(flatten)]
    news: NewsColumns,
}

pub(crate) async fn register_process(
    connection: &mut PgConnection,
    process_id: i64,
    name: &str,
    lease: Duration,
) -> Result<(), DbError> {
    sqlx::query("select flow.register_process($1, $2, $3)")
        .bind(process_id)
        .bind(name)
        .bind(millis(lease))
        .execute(connection)
        .await?;
    Ok(())
}

/// Lets workers whose process was ended work on under the number `process_id`. Returns false while work that they held is still to be
/// recovered.
pub(crate) async fn revive_process(
    connection: &mut PgConnection,
    workers: &[i64],
    process_id: i64,
    name: &str,
    lease: Duration,
) -> Result<bool, DbError> {
    Ok(sqlx::query_scalar("select flow.revive_process($1, $2, $3, $4)")
        .bind(workers)
        .bind(process_id)
        .bind(name)
        .bind(millis(lease))
        .fetch_one(connection)
        .await?)
}

pub(crate) async fn stop_process(connection: &mut PgConnection, process_id: i64) -> Result<(), DbError> {
    sqlx::query("select flow.stop_process($1)").bind(process_id).execute(connection).await?;
    Ok(())
}

/// Ends a process whose lease is over. Returns whether the process has ended.
pub(crate) async fn end_process(connection: &mut PgConnection, process_id: i64) -> Result<bool, DbError> {
    Ok(sqlx::query_scalar("select flow.end_process($1)").bind(process_id).fetch_one(connection).await?)
}

/// Recovers the work that one row of a hand lists, except work whose run another transaction has locked. Returns what is to be told to
/// others.
pub(crate) async fn recover_hand(connection: &mut PgConnection, (worker, row): (i64, i64)) -> Result<News, DbError> {
    let recover = sqlx::query_as::<_, NewsColumns>("select * from flow.recover_hand($1, $2)");
    Ok(recover.bind(worker).bind(row).fetch_one(connection).await?.into())
}

/// Renews the lease of a process and compares what its workers hold with what is listed for them.
pub(crate) async fn heartbeat(
    connection: &mut PgConnection,
    process_id: i64,
    lease: Duration,
    workers: &[WorkerPulse],
) -> Result<Heard, DbError> {
    let outstanding =
        || workers.iter().flat_map(|worker| worker.outstanding.iter().map(|batch| (worker.worker_id, *batch)));
    let held =
        || workers.iter().flat_map(|worker| worker.held.iter().map(|(id, is_over)| (worker.worker_id, *id, *is_over)));
    let columns = Columns::of(held().map(|(_, id, _)| id));
    let row: HeardRow =
        sqlx::query_as("select * from flow.heartbeat($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)")
            .bind(process_id)
            .bind(millis(lease))
            .bind(workers.iter().map(|worker| worker.worker_id).collect::<Vec<_>>())
            .bind(workers.iter().map(|worker| worker.highest_batch).collect::<Vec<_>>())
            .bind(outstanding().map(|(worker, _)| worker).collect::<Vec<_>>())
            .bind(outstanding().map(|(_, batch)| batch).collect::<Vec<_>>())
            .bind(held().map(|(worker, _, _)| worker).collect::<Vec<_>>())
            .bind(columns.runs)
            .bind(columns.steps)
            .bind(columns.tasks)
            .bind(columns.batches)
            .bind(held().map(|(_, _, is_over)| is_over).collect::<Vec<_>>())
            .fetch_one(connection)
            .await?;
    let places: Vec<(usize, WorkId)> = workers
        .iter()
        .enumerate()
        .flat_map(|(place, worker)| worker.held.iter().map(move |(id, _)| (place, *id)))
        .collect();
    Ok(row.into_heard(&places))
}

impl HeardRow {
    fn into_heard(self, places: &[(usize, WorkId)]) -> Heard {
        let reasons = self.p_reasons.unwrap_or_default().into_iter().map(Option::unwrap_or_default);
        let lost = self.p_lost.unwrap_or_default().into_iter().zip(words(self.p_lost_why));
        let leases = self.p_expired_leases_ms.unwrap_or_default().into_iter();
        Heard {
            has_ended: self.p_state.0 == ProcessState::Ended,
            states: words(self.p_states).zip(reasons).collect(),
            lost: lost
                .filter_map(|(ord, why)| {
                    // The database counts places from 1.
                    let (place, id) = places.get(usize::try_from(ord - 1).ok()?)?;
                    Some((*place, *id, why))
                })
                .collect(),
            expired: self
                .p_expired
                .unwrap_or_default()
                .into_iter()
                .zip(leases.map(|lease| Duration::from_millis(lease.unsigned_abs())))
                .collect(),
            rows: self.p_row_workers.unwrap_or_default().into_iter().zip(self.p_rows.unwrap_or_default()).collect(),
            news: self.news.into(),
            next_end: self.p_next_ms.map(|wait| Duration::from_millis(wait.unsigned_abs())),
        }
    }
}

fn millis(length: Duration) -> i64 {
    i64::try_from(length.as_millis()).unwrap_or(i64::MAX)
}
