//! Starts by hand that hand over to a worker by hand.

use std::sync::atomic::Ordering;

use serde_json::Value;
use sqlx::{Row, postgres::PgRow};
use uuid::Uuid;

use super::{Claim, Hand, hand};

/// What a start answered.
#[derive(Debug)]
pub struct Started {
    /// The runs, in the order of the inputs.
    pub runs: Vec<Uuid>,
    /// What was handed over.
    pub claims: Vec<Claim>,
    /// The queues that are to be told.
    pub tell_queues: Vec<i32>,
}

/// A start that a test makes for a worker by hand.
pub struct StartByHand<'a> {
    hand: &'a Hand<'a>,
    slug: &'a str,
    batch: i64,
    slots: i32,
    key: Option<&'a str>,
    starts_in: Option<&'static str>,
    is_repeat: bool,
}

impl Hand<'_> {
    /// A start that may hand over up to `slots` pieces, under a new number of the worker's.
    pub fn start<'a>(&'a self, slug: &'a str, slots: i32) -> StartByHand<'a> {
        let batch = hand::new_batch();
        self.batch.store(batch, Ordering::SeqCst);
        StartByHand { hand: self, slug, batch, slots, key: None, starts_in: None, is_repeat: false }
    }
}

impl<'a> StartByHand<'a> {
    /// The number.
    pub fn batch(&self) -> i64 {
        self.batch
    }

    /// Under this idempotency key.
    #[must_use]
    pub fn key(mut self, key: &'a str) -> Self {
        self.key = Some(key);
        self
    }

    /// So much later.
    #[must_use]
    pub fn later(mut self, interval: &'static str) -> Self {
        self.starts_in = Some(interval);
        self
    }

    /// The call once more, since its reply was lost.
    #[must_use]
    pub fn again(self) -> Self {
        Self { is_repeat: true, ..self }
    }

    /// Starts one run an input, under new ids.
    pub async fn of(&self, inputs: &[Value]) -> Started {
        let ids: Vec<Uuid> = inputs.iter().map(|_| Uuid::now_v7()).collect();
        self.runs(&ids, inputs).await
    }

    /// Starts runs under these ids.
    pub async fn runs(&self, ids: &[Uuid], inputs: &[Value]) -> Started {
        self.over(self.hand.engine.pool(), ids, inputs).await
    }

    /// Starts runs over a connection.
    pub async fn over(
        &self,
        connection: impl sqlx::Executor<'_, Database = sqlx::Postgres>,
        ids: &[Uuid],
        inputs: &[Value],
    ) -> Started {
        let start = "select s.* from flow.start_runs_quietly(
                         $1, $2, $3, array_fill($4::text, array[cardinality($2::text[])]),
                         array_fill(clock_timestamp() + $5::interval, array[cardinality($2::text[])]), $6, $7, $8, $9, $10) s";
        let row = sqlx::query(start)
            .bind(self.slug)
            .bind(inputs.iter().map(ToString::to_string).collect::<Vec<_>>())
            .bind(ids)
            .bind(self.key)
            .bind(self.starts_in)
            .bind(self.is_repeat)
            .bind(self.hand.process)
            .bind(self.hand.id)
            .bind(self.batch)
            .bind(self.slots)
            .fetch_one(connection)
            .await
            .unwrap();
        Started {
            runs: row.get("p_ids"),
            claims: claims(&row, self.batch),
            tell_queues: row.get::<Option<_>, _>("p_tell_queues").unwrap_or_default(),
        }
    }
}

/// What a start has handed over: single steps, with their first attempt; in order of run and step.
fn claims(row: &PgRow, batch: i64) -> Vec<Claim> {
    let runs: Vec<Uuid> = row.get::<Option<_>, _>("p_claimed_runs").unwrap_or_default();
    let ints = |name: &str| row.get::<Option<Vec<i32>>, _>(name).unwrap_or_default();
    let (steps, attempts) = (ints("p_claimed_steps"), ints("p_claimed_attempts"));
    let values = hand::values(row);
    let claim = |at: usize| Claim {
        run: runs[at],
        step: steps[at],
        task: 0,
        sent_task: -1,
        batch,
        attempt: attempts[at],
        item: None,
        values: hand::of_run(&values, runs[at]),
        is_exhausted: false,
    };
    let mut claims: Vec<Claim> = (0..runs.len()).map(claim).collect();
    claims.sort_by_key(|claim| (claim.run, claim.step));
    claims
}
