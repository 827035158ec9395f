//! Claiming, settling and releasing work, in sets.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    database::store::{
        answer::{AfterFailure, FailedRun, Fate, Verdict, WorkerState},
        news::{News, NewsColumns},
        outcome::Outcome,
        word::{Word, words},
    },
    error::DbError,
};

/// One piece of work as a worker holds it. The worker and the batch are the fence: a result counts only while both are the work's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct WorkId {
    pub(crate) run_id: Uuid,
    pub(crate) step: i32,
    /// The task's index in a map; -1 stands for a single step.
    pub(crate) task: i32,
    /// The number of the exchange or start that handed the work out.
    pub(crate) batch: i64,
}

impl WorkId {
    /// The task's index as handlers and logs show it: 0 for a single step.
    pub(crate) fn task_index(&self) -> u32 {
        u32::try_from(self.task).unwrap_or_default()
    }
}

/// A claimed piece of work with its arguments as JSON text. Work of one run shares the text of the run's values.
#[derive(Debug)]
pub(crate) struct Claimed {
    pub(crate) id: WorkId,
    pub(crate) attempt: i32,
    pub(crate) timeout: Duration,
    /// No attempt is left: the work is to be settled as `lease_expired` without running its handler.
    pub(crate) is_exhausted: bool,
    pub(crate) item: Option<Arc<str>>,
    pub(crate) input: Option<Arc<str>>,
    /// Outputs of completed steps of the run, with the steps' indexes.
    pub(crate) deps: Vec<(usize, Arc<str>)>,
}

/// One attempt and how it ended.
#[derive(Debug, Clone)]
pub(crate) struct Settlement {
    pub(crate) id: WorkId,
    pub(crate) attempt: i32,
    pub(crate) outcome: Outcome,
}

/// A place in the order of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub(crate) priority: i16,
    pub(crate) age: DateTime<Utc>,
    pub(crate) run_id: Uuid,
    pub(crate) step: i32,
    pub(crate) task: i32,
}

/// What a worker sends in one exchange.
#[derive(Debug)]
pub(crate) struct Exchange<'a> {
    pub(crate) process_id: i64,
    pub(crate) worker_id: i64,
    /// The number of this exchange. After a lost reply the exchange is sent again under the same number.
    pub(crate) batch: i64,
    pub(crate) limit: usize,
    pub(crate) settlements: &'a [Settlement],
    /// Batches of which every piece of work was settled or given back, so that the database may forget them.
    pub(crate) finished: &'a [i64],
    /// Claim one task only, and fail the task's run when its values cannot be sent.
    pub(crate) is_careful: bool,
    /// Only what lies behind these places is read, each in its priority. Without any, the whole queue is read.
    pub(crate) marks: &'a [Mark],
}

/// The database's reply to one exchange.
#[derive(Debug)]
pub(crate) struct Exchanged {
    pub(crate) state: WorkerState,
    pub(crate) reason: String,
    /// More work may be ready to be claimed than this exchange has claimed.
    pub(crate) has_more: bool,
    /// When the tasks were claimed, on the database's clock.
    pub(crate) claimed_at: Option<DateTime<Utc>>,
    /// One verdict a settlement, in the settlements' order.
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) claimed: Vec<Claimed>,
    /// How many bytes of values came with the claimed tasks.
    pub(crate) bytes: usize,
    /// What follows each accepted failure, with the failure's place among the settlements, counted from 0.
    pub(crate) fates: Vec<(usize, Fate)>,
    /// The runs that failed with this exchange.
    pub(crate) failed_runs: Vec<FailedRun>,
    /// The last place that this exchange has read in each priority.
    pub(crate) read: Vec<Mark>,
    /// How long the database took to read the queue.
    pub(crate) read_time: Duration,
    /// How long from now until the next delayed work of the queue is due; `None` when there is none, or the queue was not looked at.
    pub(crate) next_due: Option<Duration>,
    /// What is to be told to others.
    pub(crate) news: News,
}

#[derive(sqlx::FromRow)]
struct ExchangeRow {
    p_state: Word<WorkerState>,
    p_reason: Option<String>,
    p_more: Option<bool>,
    p_verdicts: Option<Vec<Word<Verdict>>>,
    p_now: Option<DateTime<Utc>>,
    p_runs: Option<Vec<Uuid>>,
    p_steps: Option<Vec<i32>>,
    p_tasks: Option<Vec<i32>>,
    p_attempts: Option<Vec<i32>>,
    p_items: Option<Vec<Option<String>>>,
    p_timeouts_ms: Option<Vec<i64>>,
    p_exhausted: Option<Vec<bool>>,
    p_value_runs: Option<Vec<Uuid>>,
    p_value_steps: Option<Vec<i32>>,
    p_values: Option<Vec<String>>,
    p_places: Option<Vec<i64>>,
    p_fates: Option<Vec<Word<AfterFailure>>>,
    p_waits_ms: Option<Vec<Option<i64>>>,
    p_max_attempts: Option<Vec<i32>>,
    p_failed_runs: Option<Vec<Uuid>>,
    p_failed_steps: Option<Vec<Option<i32>>>,
    p_failed_errors: Option<Vec<Option<String>>>,
    p_read_priorities: Option<Vec<i16>>,
    p_read_ages: Option<Vec<DateTime<Utc>>>,
    p_read_runs: Option<Vec<Uuid>>,
    p_read_steps: Option<Vec<i32>>,
    p_read_tasks: Option<Vec<i32>>,
    p_read_us: Option<i64>,
    p_next_due_ms: Option<i64>,
    #[sqlx(flatten)]
    news: NewsColumns,
}

#[derive(sqlx::FromRow)]
struct GivenUpRow {
    p_verdict: Word<Verdict>,
    #[sqlx(flatten)]
    news: NewsColumns,
}

/// The columns of a list of work, as the functions take them.
#[derive(Default)]
pub(super) struct Columns {
    pub(super) runs: Vec<Uuid>,
    pub(super) steps: Vec<i32>,
    pub(super) tasks: Vec<i32>,
    pub(super) batches: Vec<i64>,
}

impl Columns {
    pub(super) fn of(ids: impl Iterator<Item = WorkId>) -> Self {
        let mut columns = Self::default();
        for id in ids {
            columns.runs.push(id.run_id);
            columns.steps.push(id.step);
            columns.tasks.push(id.task);
            columns.batches.push(id.batch);
        }
        columns
    }
}

pub(crate) async fn exchange(connection: &mut PgConnection, sent: &Exchange<'_>) -> Result<Exchanged, DbError> {
    let settled = Columns::of(sent.settlements.iter().map(|settlement| settlement.id));
    let outcomes = || sent.settlements.iter().map(|settlement| &settlement.outcome);
    let marks = || sent.marks.iter();
    let row: ExchangeRow = sqlx::query_as(
        "select * from flow.exchange($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
    )
    .bind(sent.process_id)
    .bind(sent.worker_id)
    .bind(sent.batch)
    .bind(i32::try_from(sent.limit).unwrap_or(i32::MAX))
    .bind(settled.runs)
    .bind(settled.steps)
    .bind(settled.tasks)
    .bind(settled.batches)
    .bind(outcomes().map(Outcome::name).collect::<Vec<_>>())
    .bind(outcomes().map(Outcome::output).collect::<Vec<_>>())
    .bind(outcomes().map(Outcome::error).collect::<Vec<_>>())
    .bind(outcomes().map(Outcome::delay_ms).collect::<Vec<_>>())
    .bind(sent.finished)
    .bind(sent.is_careful)
    .bind(marks().map(|mark| mark.priority).collect::<Vec<_>>())
    .bind(marks().map(|mark| mark.age).collect::<Vec<_>>())
    .bind(marks().map(|mark| mark.run_id).collect::<Vec<_>>())
    .bind(marks().map(|mark| mark.step).collect::<Vec<_>>())
    .bind(marks().map(|mark| mark.task).collect::<Vec<_>>())
    .fetch_one(connection)
    .await?;
    Ok(Exchanged::new(row, sent.batch))
}

impl Exchanged {
    fn new(mut row: ExchangeRow, batch: i64) -> Self {
        let sizes = row.p_values.iter().flatten().map(String::len);
        let items = row.p_items.iter().flatten().flatten().map(String::len);
        let bytes = sizes.chain(items).sum();
        let claimed = claimed(&mut row, batch);
        let (fates, failed_runs, read) = (fates(&mut row), failed_runs(&mut row), read(&mut row));
        Self {
            bytes,
            fates,
            failed_runs,
            read,
            read_time: Duration::from_micros(row.p_read_us.unwrap_or_default().unsigned_abs()),
            // A negative wait means that the work has become due meanwhile.
            next_due: row.p_next_due_ms.map(|ms| Duration::from_millis(u64::try_from(ms).unwrap_or_default())),
            news: row.news.into(),
            state: row.p_state.0,
            reason: row.p_reason.unwrap_or_default(),
            has_more: row.p_more.unwrap_or(false),
            claimed_at: row.p_now,
            verdicts: words(row.p_verdicts).collect(),
            claimed,
        }
    }
}

fn fates(row: &mut ExchangeRow) -> Vec<(usize, Fate)> {
    let places = row.p_places.take().unwrap_or_default().into_iter();
    let waits = row.p_waits_ms.take().unwrap_or_default();
    let fates = words(row.p_fates.take()).zip(waits);
    let limits = row.p_max_attempts.take().unwrap_or_default();
    places
        .zip(fates.zip(limits))
        // The database counts places from 1.
        .filter_map(|(place, ((next, wait), max_attempts))| {
            let wait = Duration::from_millis(wait.unwrap_or_default().unsigned_abs());
            Some((usize::try_from(place - 1).ok()?, Fate { next, wait, max_attempts }))
        })
        .collect()
}

fn read(row: &mut ExchangeRow) -> Vec<Mark> {
    let priorities = row.p_read_priorities.take().unwrap_or_default().into_iter();
    let ages = row.p_read_ages.take().unwrap_or_default();
    let runs = row.p_read_runs.take().unwrap_or_default();
    let steps = row.p_read_steps.take().unwrap_or_default();
    let tasks = row.p_read_tasks.take().unwrap_or_default();
    let places = ages.into_iter().zip(runs).zip(steps.into_iter().zip(tasks));
    priorities
        .zip(places)
        .map(|(priority, ((age, run_id), (step, task)))| Mark { priority, age, run_id, step, task })
        .collect()
}

fn failed_runs(row: &mut ExchangeRow) -> Vec<FailedRun> {
    let runs = row.p_failed_runs.take().unwrap_or_default().into_iter();
    let steps = row.p_failed_steps.take().unwrap_or_default();
    let errors = row.p_failed_errors.take().unwrap_or_default();
    runs.zip(steps.into_iter().zip(errors))
        .map(|(run_id, (step, error))| FailedRun { run_id, step, error: error.unwrap_or_default() })
        .collect()
}

/// Fails the run of an attempt whose result cannot be recorded. Returns the verdict, and what is to be told to others.
pub(crate) async fn give_up_attempt(
    connection: &mut PgConnection,
    worker_id: i64,
    settlement: &Settlement,
) -> Result<(Verdict, News), DbError> {
    let id = settlement.id;
    let given_up: GivenUpRow = sqlx::query_as("select * from flow.give_up_attempt($1, $2, $3, $4, $5, $6)")
        .bind(worker_id)
        .bind(id.run_id)
        .bind(id.step)
        .bind(id.task)
        .bind(id.batch)
        .bind(settlement.outcome.error())
        .fetch_one(connection)
        .await?;
    Ok((given_up.p_verdict.0, given_up.news.into()))
}

/// Makes the claimed work from the columns of the reply. Each value that several pieces of work need is allocated once.
fn claimed(row: &mut ExchangeRow, batch: i64) -> Vec<Claimed> {
    let take = |column: &mut Option<Vec<i32>>| column.take().unwrap_or_default();
    let (steps, tasks, attempts) = (take(&mut row.p_steps), take(&mut row.p_tasks), take(&mut row.p_attempts));
    let mut items = row.p_items.take().unwrap_or_default();
    let timeouts = row.p_timeouts_ms.take().unwrap_or_default();
    let exhausted = row.p_exhausted.take().unwrap_or_default();

    let value_steps = take(&mut row.p_value_steps);
    let values = row.p_values.take().unwrap_or_default();
    let mut shared: std::collections::HashMap<Uuid, Vec<(i32, Arc<str>)>> = std::collections::HashMap::new();
    for ((run_id, step), value) in row.p_value_runs.take().unwrap_or_default().into_iter().zip(value_steps).zip(values)
    {
        shared.entry(run_id).or_default().push((step, value.into()));
    }

    let runs = row.p_runs.take().unwrap_or_default();
    runs.into_iter()
        .enumerate()
        .map(|(at, run_id)| {
            let of_run = shared.get(&run_id).map(Vec::as_slice).unwrap_or_default();
            Claimed {
                id: WorkId { run_id, step: steps[at], task: tasks[at], batch },
                attempt: attempts[at],
                timeout: Duration::from_millis(timeouts[at].unsigned_abs()),
                is_exhausted: exhausted[at],
                item: items.get_mut(at).and_then(Option::take).map(Into::into),
                input: of_run.iter().find(|(step, _)| *step == -1).map(|(_, value)| Arc::clone(value)),
                deps: of_run
                    .iter()
                    .filter_map(|(step, value)| Some((usize::try_from(*step).ok()?, Arc::clone(value))))
                    .collect(),
            }
        })
        .collect()
}

/// Gives work back unused and makes the worker drain. Work that the worker does not hold any more is passed over. Returns what is to be
/// told to others.
pub(crate) async fn release_work(
    connection: &mut PgConnection,
    worker_id: i64,
    held: &[WorkId],
) -> Result<News, DbError> {
    let columns = Columns::of(held.iter().copied());
    let release = sqlx::query_as::<_, NewsColumns>("select * from flow.release_work($1, $2, $3, $4, $5)");
    let released = release
        .bind(worker_id)
        .bind(columns.runs)
        .bind(columns.steps)
        .bind(columns.tasks)
        .bind(columns.batches)
        .fetch_one(connection)
        .await?;
    Ok(released.into())
}
