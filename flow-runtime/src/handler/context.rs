//! What a handler may know about its attempt: ids, deadline and cancellation.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use crate::database::id::{RunId, WorkerId};

/// What a handler may know about its attempt: ids, the attempt's number, deadline and cancellation.
#[derive(Debug, Clone)]
pub struct StepContext {
    facts: Arc<Facts>,
    cancelled: CancellationToken,
}

#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) run_id: RunId,
    pub(crate) step: Arc<str>,
    pub(crate) task_index: u32,
    pub(crate) attempt: u32,
    pub(crate) worker_id: WorkerId,
    pub(crate) deadline: DateTime<Utc>,
}

impl StepContext {
    pub(crate) fn new(facts: Facts, cancelled: CancellationToken) -> Self {
        Self { facts: Arc::new(facts), cancelled }
    }

    /// A context for unit tests of a handler: a new run id, the step `test`, task 0, attempt 1, a deadline one minute ahead, never
    /// cancelled.
    pub fn for_test() -> Self {
        let facts = Facts {
            run_id: RunId::generate(),
            step: "test".into(),
            task_index: 0,
            attempt: 1,
            worker_id: 0.into(),
            deadline: Utc::now() + chrono::Duration::minutes(1),
        };
        Self::new(facts, CancellationToken::new())
    }

    /// The run to which the task belongs.
    pub fn run_id(&self) -> RunId {
        self.facts.run_id
    }

    /// The step's slug.
    pub fn step(&self) -> &str {
        &self.facts.step
    }

    /// The task's index: 0 in a single step, the element's position in a map.
    pub fn task_index(&self) -> u32 {
        self.facts.task_index
    }

    /// The attempt's number, counted from 1. An attempt that was lost together with other work is not used up, so its number comes again.
    pub fn attempt(&self) -> u32 {
        self.facts.attempt
    }

    /// A key that names the piece of work to other systems: `<run id>:<step>:<task index>`, at most 176 bytes of ASCII.
    ///
    /// Every attempt of the work has the same key, on whichever worker, and no other work has this key. So a service that takes such a key
    /// (a payment, a mail, an order) does only once what several attempts ask for. A run that `flow.retry_run` has made is another run,
    /// whose work has other keys.
    ///
    /// ```
    /// # use flow_runtime::prelude::*;
    /// # let ctx = StepContext::for_test();
    /// let key = ctx.idempotency_key(); // for example as the header `Idempotency-Key`
    /// assert_eq!(key, format!("{}:test:0", ctx.run_id()));
    /// ```
    pub fn idempotency_key(&self) -> String {
        let Facts { run_id, step, task_index, .. } = &*self.facts;
        format!("{run_id}:{step}:{task_index}")
    }

    /// The worker that runs this attempt.
    pub fn worker_id(&self) -> WorkerId {
        self.facts.worker_id
    }

    /// When the attempt's timeout ends, on the database's clock.
    pub fn deadline(&self) -> DateTime<Utc> {
        self.facts.deadline
    }

    /// Whether the handler should stop: the run or step has ended, the worker does not hold the work any more, or the worker stops and its
    /// grace is over.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }

    /// Waits until the handler should stop; see [`StepContext::is_cancelled`].
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }
}
