//! The main loop: settle what has ended, claim as many tasks as there are free slots, in one round trip.

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

/// How long the first result waits for others while handlers run, so that a busy worker settles in batches.
/// Source: docs/decisions/0005 (batch size against delay, measured).
const LINGER: Duration = Duration::from_millis(1);

/// The most bytes of outputs and error texts that one exchange settles.
const SETTLE_BYTES: usize = 64 << 20;

/// How many free slots an exchange leaves to starts of this program, which meet it under way, when nothing is known to wait.
const LEFT_TO_STARTS: usize = 8;

/// The longest pause before an exchange that was told to come again later.
const LONGEST_BUSY_PAUSE: Duration = Duration::from_millis(100);

/// The main loop of one worker.
pub(super) struct ExchangeLoop {
    pub(super) shared: Arc<Shared>,
    pub(super) link: Link,
    results: mpsc::UnboundedReceiver<Settlement>,
    /// Results that the database has not taken yet.
    pub(super) unsettled: Vec<Settlement>,
    pub(super) backoff: Backoff,
    /// A claim may find something.
    may_have_work: bool,
    position: ReadPosition,
    /// Results whose runs somebody else had locked.
    busy: Busy,
    limits: BatchLimits,
    /// Kept for what the outstanding exchange may hand out.
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

    /// How much the next exchange asks for: all that fits when something is known to wait; else as many as there are results, since each may
    /// make something ready, and most of what is free beside.
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

    /// Waits until there is something to settle, something to claim, or the worker is to stop.
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

    /// Takes the results that are there, and those that come within the linger while handlers run.
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

    /// Takes results while the worker drains: whatever comes first, until `until`. Also ends when a slot was freed late.
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

    /// Whether there are results that the database has not taken.
    pub(super) fn has_results(&self) -> bool {
        !self.unsettled.is_empty() || !self.busy.is_empty()
    }

    /// Every result that the database has not taken.
    pub(super) fn results(&self) -> impl Iterator<Item = &Settlement> {
        self.unsettled.iter().chain(self.busy.all())
    }

    /// One round trip. An error that may pass is waited out; after a lost reply the next exchange has the same number.
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
            // What is left is busy, and not due yet.
            return self.busy.due().await;
        }
        let marks = self.position.marks();
        match self.call(limit, count, &marks).await {
            Ok(reply) if reply.state == WorkerState::Busy => {
                // An earlier exchange of this worker is still at work, or somebody is just looking whether this process lives.
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
                    // After an answer of the server's nothing has happened.
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

    /// The exchange has done nothing.
    fn nothing_came_of_it(&mut self) {
        self.shared.held.nothing_came_of_it();
        self.slots.shrink_to(0);
    }

    /// Waits before the next try.
    async fn wait_out(&mut self, error: &DbError) {
        self.shared.last_exchange.failed();
        let pause = self.backoff.next_pause();
        tracing::warn!(error = %error, cause = error.cause(), ?pause, "exchange failed; trying again");
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            // A worker that drains still settles, at the same pace.
            () = self.shared.stop.cancelled(), if !self.shared.stop.is_cancelled() => {}
        }
    }

    /// The database refuses this exchange, and would refuse it again: finds the one settlement or claim that it cannot do. What it
    /// cannot record or hand over ends that attempt or that run, and nobody else's.
    fn shrink_after(&mut self, count: usize, limit: usize, error: DbError) {
        tracing::warn!(error = %error, cause = error.cause(), count, limit, "exchange refused; trying with less");
        match (count, limit) {
            (0, 0 | 1) if self.limits.is_careful => self.fail(error.into()),
            (0, 0 | 1) if self.limits.is_least || error.is_about_data() => self.limits.is_careful = true,
            // Its flow or queue may have gone while it ran; then the next one says so.
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

    /// Fails the run of a result that the database refuses whatever it is.
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

    /// Forgets the work whose results were answered for; busy ones are sent again later.
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

    /// Lets the claimed work run and does as the reply's state says.
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
                // The heartbeat renews the lease, or gives back what this process held and goes on under a new number.
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

/// How many of the results one exchange settles: all, unless they are very large together.
fn settled_at_once(unsettled: &[Settlement]) -> usize {
    let mut bytes = 0;
    let fits = unsettled.iter().take_while(|settlement| {
        bytes += settlement.outcome.bytes();
        bytes <= SETTLE_BYTES
    });
    fits.count().max(unsettled.len().min(1))
}
