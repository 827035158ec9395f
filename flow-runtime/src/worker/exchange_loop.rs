//! The main loop of a worker: each exchange settles the results that are there and claims tasks for the free slots, in one round trip.

use std::{sync::Arc, time::Duration};

use chrono::Utc;
use sqlx::PgConnection;
use tokio::{sync::mpsc, time::Instant};

use crate::{
    database::{
        backoff::Backoff,
        deadline::{self, connection_lost, in_time},
        link::{Link, Retry},
        store::{self, Exchange, Exchanged, FailedRun, Fate, Mark, Outcome, Settlement, Verdict, WorkerState},
    },
    error::{DbError, WorkerError},
    fault,
    worker::{
        attempt, batch_limits::BatchLimits, busy::Busy, log, read_position::ReadPosition, shared::Shared,
        slots::Reservation,
    },
};

/// How long the first result waits for further results while handlers run, so that a busy worker settles in batches.
/// Source: docs/decisions/0005 (batch size against delay, measured).
const LINGER: Duration = Duration::from_millis(1);

/// The most bytes of outputs and error texts that one exchange settles.
const SETTLE_BYTES: usize = 64 << 20;

/// How many free slots an exchange leaves unreserved when no work is known to wait, so that starts of this program can hand over to the
/// worker while the exchange is under way.
const LEFT_TO_STARTS: usize = 8;

/// The longest pause before an exchange that the database has answered with `busy` is sent again.
const LONGEST_BUSY_PAUSE: Duration = Duration::from_millis(100);

/// The main loop of one worker.
pub(super) struct ExchangeLoop {
    pub(super) shared: Arc<Shared>,
    pub(super) link: Link,
    results: mpsc::UnboundedReceiver<Settlement>,
    /// Results that the database has not taken yet.
    pub(super) unsettled: Vec<Settlement>,
    pub(super) backoff: Backoff,
    /// A claim may find work.
    may_have_work: bool,
    position: ReadPosition,
    /// Results whose runs another transaction had locked.
    busy: Busy,
    limits: BatchLimits,
    /// The slots that are reserved for what the outstanding exchange may hand out.
    slots: Reservation,
    poll_at: Instant,
    was_paused: bool,
    pub(super) fatal: Option<WorkerError>,
}

impl ExchangeLoop {
    pub(super) fn new(shared: Arc<Shared>, link: Link, results: mpsc::UnboundedReceiver<Settlement>) -> Self {
        Self {
            slots: shared.held.slots().reservation(),
            shared,
            link,
            results,
            unsettled: Vec::new(),
            backoff: Backoff::default(),
            may_have_work: true,
            position: ReadPosition::default(),
            busy: Busy::default(),
            limits: BatchLimits::default(),
            poll_at: Instant::now(),
            was_paused: false,
            fatal: None,
        }
    }

    /// Works until the worker is to stop.
    pub(super) async fn run(&mut self) {
        while !self.shared.stop.is_cancelled() {
            self.wait().await;
            self.gather().await;
            let limit = self.limit();
            if limit > 0 || !self.unsettled.is_empty() || self.busy.is_due() || self.shared.held.is_outstanding() {
                self.exchange(limit.min(self.shared.config.batch)).await;
            }
        }
    }

    /// How many tasks the next exchange asks for. When work is known to wait: as many as slots are free. Else, with results to settle: most
    /// of the free slots, and at least one for each result where so many are free, since each result may make a step ready.
    fn limit(&self) -> usize {
        let (free, count) = (self.free_slots(), self.unsettled.len());
        match (self.may_have_work, count) {
            (true, _) => free,
            (false, 0) => 0,
            (false, _) => (free - LEFT_TO_STARTS.min(free / 2)).max(count.min(free)),
        }
    }

    /// How many slots an exchange may fill.
    fn free_slots(&self) -> usize {
        self.shared.free_slots() + self.slots.count()
    }

    /// Waits until there is a result to settle or a claim to make, or the worker is to stop.
    async fn wait(&mut self) {
        let has_slots = self.free_slots() > 0;
        let is_outstanding = self.shared.held.is_outstanding();
        if !self.unsettled.is_empty() || is_outstanding || (self.may_have_work && has_slots) {
            return;
        }
        let read_at = self.position.next_at().map_or(self.poll_at, |at| at.min(self.poll_at));
        tokio::select! {
            () = self.shared.stop.cancelled() => {}
            Some(settlement) = self.results.recv() => self.unsettled.push(settlement),
            () = self.shared.wake.notified() => {
                self.may_have_work = true;
                self.position.look_everywhere();
            }
            () = tokio::time::sleep_until(read_at), if has_slots => self.may_have_work = true,
            () = self.busy.due() => {}
        }
    }

    /// Takes the results that are there, and while handlers run also those that come within [`LINGER`].
    async fn gather(&mut self) {
        let until = Instant::now() + LINGER;
        loop {
            while let Ok(settlement) = self.results.try_recv() {
                self.unsettled.push(settlement);
            }
            let is_full = self.unsettled.len() >= self.shared.config.batch;
            if self.unsettled.is_empty() || is_full || self.shared.held.running() == 0 {
                return;
            }
            match tokio::time::timeout_at(until, self.results.recv()).await {
                Ok(Some(settlement)) => self.unsettled.push(settlement),
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Waits, while the worker drains, for the next result, a wake-up (as when a blocking handler ends after its timeout) or `until`, and
    /// takes the results that are there.
    pub(super) async fn receive_until(&mut self, until: Instant) {
        tokio::select! {
            biased;
            Some(settlement) = self.results.recv() => self.unsettled.push(settlement),
            () = self.shared.wake.notified() => {}
            () = tokio::time::sleep_until(until) => {}
        }
        while let Ok(settlement) = self.results.try_recv() {
            self.unsettled.push(settlement);
        }
    }

    /// Whether there are results that the database has not answered for.
    pub(super) fn has_results(&self) -> bool {
        !self.unsettled.is_empty() || !self.busy.is_empty()
    }

    /// Every result that the database has not answered for.
    pub(super) fn results(&self) -> impl Iterator<Item = &Settlement> {
        self.unsettled.iter().chain(self.busy.all())
    }

    /// Makes one round trip. After an error that may pass, waits; the next exchange then has the same number when the reply was lost.
    pub(super) async fn exchange(&mut self, limit: usize) {
        if let Some(Settlement { outcome: Outcome::GiveUp(_), .. }) = self.unsettled.first() {
            return self.give_up().await;
        }
        let alone = self.busy.take_due(&mut self.unsettled);
        let count = alone.unwrap_or_else(|| settled_at_once(&self.unsettled)).min(self.limits.settle_at_most);
        let is_alone = alone.is_some() || (count > 0 && self.limits.settles_apart);
        let limit = if is_alone { 0 } else { limit.min(self.limits.claim_limit()) };
        let limit = self.slots.grow_to(limit, self.shared.concurrency());
        if limit == 0 && count == 0 && !self.shared.held.is_outstanding() {
            // Only busy results are left, and their next try is not due yet.
            return self.busy.due().await;
        }
        let marks = self.position.marks();
        match self.call(limit, count, &marks).await {
            Ok(reply) if reply.state == WorkerState::Busy => {
                // An earlier exchange of this worker is still at work, or another process is just trying to end this one.
                self.link.has_served();
                self.shared.last_exchange.succeeded();
                tokio::time::sleep(self.backoff.next_pause().min(LONGEST_BUSY_PAUSE)).await;
            }
            Ok(mut reply) => {
                self.link.has_served();
                self.shared.last_exchange.succeeded();
                self.backoff.reset();
                self.slots.shrink_to(reply.claimed.len());
                self.shared.db.hub().tell(std::mem::take(&mut reply.news));
                self.limits.grow();
                self.settled(count, &reply.verdicts, &reply.fates);
                reply.failed_runs.iter().for_each(|run| log::run_failed(&self.shared, run));
                if limit > 0 {
                    self.may_have_work = self.position.learn(marks.is_empty(), &reply);
                    self.poll_at = Instant::now() + self.shared.config.poll_interval;
                }
                self.take(reply).await;
            }
            Err(error) if error.is_about_a_lock() && count > 0 => {
                self.nothing_came_of_it();
                self.busy.put(self.unsettled.drain(..count));
            }
            Err(error) => match self.link.after(&error) {
                Retry::Later { is_dropped } => {
                    // The server has answered with an error, so it has rolled the exchange back.
                    if !is_dropped {
                        self.nothing_came_of_it();
                    }
                    self.wait_out(&error).await;
                }
                Retry::Never => {
                    self.nothing_came_of_it();
                    self.shrink_after(count, limit, error);
                }
            },
        }
    }

    /// Drops the exchange's number and frees its slots, because the exchange has done nothing in the database.
    fn nothing_came_of_it(&mut self) {
        self.shared.held.nothing_came_of_it();
        self.slots.shrink_to(0);
    }

    /// Logs the error and waits before the next try.
    async fn wait_out(&mut self, error: &DbError) {
        self.shared.last_exchange.failed();
        let pause = self.backoff.next_pause();
        tracing::warn!(error = %error, cause = error.cause(), ?pause, "exchange failed; trying again");
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            // The stop ends this wait once. A worker that drains already waits in full, since it settles at the same pace.
            () = self.shared.stop.cancelled(), if !self.shared.stop.is_cancelled() => {}
        }
    }

    /// Makes the next exchange smaller after the database has refused one that it would refuse again. So the one result or claim that the
    /// database cannot do is found. A result that cannot be recorded fails its own attempt or run, and a claim that cannot be sent its own
    /// run; other work goes on.
    fn shrink_after(&mut self, count: usize, limit: usize, error: DbError) {
        tracing::warn!(error = %error, cause = error.cause(), count, limit, "exchange refused; trying with less");
        match (count, limit) {
            (0, 0 | 1) if self.limits.is_careful => self.fail(error.into()),
            (0, 0 | 1) if self.limits.is_least || error.is_about_data() => self.limits.is_careful = true,
            // The flow or queue may have been deleted while this exchange ran. The next exchange then answers with that state.
            (0, 0 | 1) => self.limits.is_least = true,
            (0, _) => self.limits.claim_at_most = 1,
            (_, 1..) => self.limits.settles_apart = true,
            (1, 0) => {
                let refused = &mut self.unsettled[0].outcome;
                let instead = match &*refused {
                    Outcome::Complete(output) => Outcome::Permanent(format!(
                        "the output of {} bytes could not be recorded: {}",
                        output.len(),
                        error.cause()
                    )),
                    failed => Outcome::GiveUp(format!(
                        "the failure of an attempt could not be recorded: {}; the attempt said: {}",
                        error.cause(),
                        failed.error().unwrap_or_default()
                    )),
                };
                *refused = instead;
            }
            (_, 0) => self.limits.settle_at_most = count / 2,
        }
    }

    /// Fails the run of the first result, which the database has refused both as it was and as a failure.
    async fn give_up(&mut self) {
        let (worker_id, result) = (self.shared.worker_id, &self.unsettled[0]);
        let give_up = async |connection: &mut PgConnection| store::give_up_attempt(connection, worker_id, result).await;
        let given_up = self.link.call(deadline::EXCHANGE, give_up).await;
        match given_up {
            Ok((verdict, news)) => {
                self.backoff.reset();
                self.shared.db.hub().tell(news);
                let Settlement { id, outcome, .. } = &self.unsettled[0];
                let error = outcome.error().unwrap_or_default();
                log::run_failed(&self.shared, &FailedRun { run_id: id.run_id, step: Some(id.step), error });
                self.settled(1, &[verdict], &[]);
            }
            Err(error) => match self.link.after(&error) {
                Retry::Later { .. } => self.wait_out(&error).await,
                Retry::Never => self.fail(error.into()),
            },
        }
    }

    async fn call(&mut self, limit: usize, count: usize, marks: &[Mark]) -> Result<Exchanged, DbError> {
        let connection = self.link.get().await?;
        let finished = self.shared.held.finished();
        let sent = Exchange {
            process_id: self.shared.heartbeat.process_id(),
            worker_id: self.shared.worker_id,
            batch: self.shared.held.next_batch(),
            limit,
            settlements: &self.unsettled[..count],
            finished: &finished,
            is_careful: self.limits.is_careful,
            marks,
        };
        let exchanged = match in_time(deadline::EXCHANGE, store::exchange(connection, &sent)).await {
            Ok(_) if fault::is_cut("committed") => Err(connection_lost()),
            exchanged => exchanged,
        }?;
        self.shared.held.forget(&finished);
        Ok(exchanged)
    }

    /// Forgets the work whose results the database has answered for, and keeps busy results for a later exchange.
    fn settled(&mut self, count: usize, verdicts: &[Verdict], fates: &[(usize, Fate)]) {
        for (place, fate) in fates {
            if let Some(settlement) = self.unsettled.get(*place) {
                log::attempt_failed(&self.shared, settlement, fate);
            }
        }
        let mut busy = Vec::new();
        for (settlement, verdict) in self.unsettled.drain(..count).zip(verdicts) {
            match verdict {
                Verdict::Accepted | Verdict::AlreadySettled => self.shared.held.remove(settlement.id),
                Verdict::Lost => {
                    self.shared.held.remove(settlement.id);
                    log::result_dropped(&self.shared, &settlement);
                }
                Verdict::Busy => busy.push(settlement),
            }
        }
        self.busy.put(busy.into_iter());
    }

    /// Runs the handlers of the claimed work and acts on the reply's state.
    async fn take(&mut self, reply: Exchanged) {
        self.limits.learn(reply.bytes, reply.claimed.len());
        let claimed_at = reply.claimed_at.unwrap_or_else(Utc::now);
        if !reply.claimed.is_empty() && fault::is_cut("claimed") {
            return;
        }
        attempt::take_over(&self.shared, reply.claimed, claimed_at, &mut self.slots);
        self.slots.shrink_to(0);
        let is_paused = reply.state == WorkerState::Paused;
        if is_paused && !self.was_paused {
            tracing::warn!(reason = reply.reason, "the queue is paused; nothing is claimed until it is resumed");
        }
        self.was_paused = is_paused;
        match reply.state {
            WorkerState::Corrupt => self.fail(WorkerError::Corrupt(reply.reason)),
            WorkerState::Misrouted => self.fail(WorkerError::Misrouted(reply.reason)),
            WorkerState::WorkerGone => self.fail(WorkerError::Gone(reply.reason)),
            WorkerState::UpgradeNeeded => self.fail(WorkerError::UpgradeNeeded(reply.reason)),
            WorkerState::ProcessEnded | WorkerState::Late => {
                // The heartbeat renews the lease; or it recovers what this process held, and the process goes on under a new number.
                self.shared.heartbeat.want();
                tokio::time::sleep(LONGEST_BUSY_PAUSE).await;
                self.may_have_work = true;
            }
            WorkerState::Draining => {
                if !self.shared.stop.is_cancelled() {
                    tracing::info!(reason = reply.reason, "draining, as the database asks");
                }
                self.shared.stop.cancel();
            }
            WorkerState::Ok | WorkerState::Paused | WorkerState::Busy => {}
        }
    }

    /// Remembers the first fatal error and drains.
    pub(super) fn fail(&mut self, error: WorkerError) {
        self.fatal.get_or_insert(error);
        self.shared.stop.cancel();
    }
}

/// How many of the results one exchange settles: as many as have at most [`SETTLE_BYTES`] together, and at least one.
fn settled_at_once(unsettled: &[Settlement]) -> usize {
    let mut bytes = 0;
    let fits = unsettled.iter().take_while(|settlement| {
        bytes += settlement.outcome.bytes();
        bytes <= SETTLE_BYTES
    });
    fits.count().max(unsettled.len().min(1))
}
