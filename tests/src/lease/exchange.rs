//! `flow.exchange` in the database: the locks and the look, then settling, claiming and listing, or the answer to a repeat.

use super::{
    rule::{Fault, Rule, Violation},
    step::Steps,
    world::{Exchange, HandRow, Held, Look, Phase, Place, Reply, Stage, Standing, World, one},
};

/// What somebody else has locked.
#[derive(Clone, Copy)]
enum Locked {
    Results,
    Waiting,
    All,
}

impl Locked {
    fn name(self) -> &'static str {
        match self {
            Self::Results => "exchange: is committed, its results are busy",
            Self::Waiting => "exchange: is committed, what waits is locked",
            Self::All => "exchange: finds everything locked",
        }
    }
}

impl Steps<'_> {
    pub(super) fn of_exchanges(&mut self, worker: usize) {
        for place in 0..self.world.workers[worker].calls.len() {
            let call = &self.world.workers[worker].calls[place];
            match call.phase {
                Phase::Sent if self.holds(Rule::LookAfterLocks) => self.begin(worker, place, None),
                Phase::Sent => {
                    let mut next = self.world.clone();
                    next.workers[worker].calls[place].phase = Phase::Looked(look(self.world, worker));
                    self.by_worker("exchange: looks without its locks", worker, next);
                }
                Phase::Looked(look) => self.begin(worker, place, Some(look)),
                Phase::Begun { look, is_repeat: false } => self.commit(worker, place, look),
                Phase::Begun { is_repeat: true, .. } => self.answer_again(worker, place),
                Phase::Replied(_) => {}
            }
            self.lose_reply(worker, place);
        }
    }

    /// Takes the locks and looks up worker, process and newest row.
    fn begin(&mut self, of: usize, place: usize, seen: Option<Look>) {
        let worker = &self.world.workers[of];
        let has_begun = |call: &Exchange| matches!(call.phase, Phase::Begun { .. });
        if self.holds(Rule::WorkerLock) && worker.calls.iter().any(has_begun) {
            // It would be told to come again, which is as if it came later.
            return;
        }
        let call = &worker.calls[place];
        let mut look = seen.unwrap_or_else(|| look(self.world, of));
        if self.holds(Rule::OwnProcess) && seen.is_none() && call.process != worker.process {
            look = Look::Refused;
        }
        let is_repeat = self.holds(Rule::RepeatByNumber) && call.batch <= self.newest(&worker.hand);
        if is_repeat && call.batch == worker.exchange && !worker.is_resent {
            return self.breaks("exchange: answers a repeat", "worker", of, Violation::AnsweredUndone);
        }
        let mut next = self.world.clone();
        let name = if look == Look::Refused {
            reply(&mut next, of, place, Reply::Refused);
            "exchange: is refused"
        } else {
            next.workers[of].calls[place].phase = Phase::Begun { look, is_repeat };
            if is_repeat { "exchange: begins, as a repeat" } else { "exchange: begins" }
        };
        self.by_worker(name, of, next);
    }

    /// Settles, claims and lists; what somebody else has locked is passed over.
    fn commit(&mut self, of: usize, place: usize, look: Look) {
        self.commit_with(of, place, look, None);
        if self.world.has_left(Fault::Locked) {
            for locked in [Locked::Results, Locked::Waiting, Locked::All] {
                self.commit_with(of, place, look, Some(locked));
            }
        }
    }

    fn commit_with(&mut self, of: usize, place: usize, look: Look, locked: Option<Locked>) {
        let call = &self.world.workers[of].calls[place];
        let settles = !matches!(locked, Some(Locked::Results | Locked::All));
        let may_claim = !matches!(locked, Some(Locked::Waiting | Locked::All));
        let mut next = self.world.clone();
        if settles && let Err(violation) = self.settle(&mut next, of, call) {
            return self.breaks("exchange: settles", "worker", of, violation);
        }
        let claims = match look {
            Look::MayClaim { held, is_closed } if may_claim => {
                // What it waited for may have come with its own results.
                let is_closed = is_closed && (call.results.is_empty() || !settles || next.is_closed(call.process));
                self.claim(&mut next, of, place, held, is_closed)
            }
            _ => Vec::new(),
        };
        let name = if claims.is_empty() { "exchange: is committed" } else { "exchange: is committed with claims" };
        if self.list(&mut next, of, call, &claims) {
            let answered = (0_u8..).zip(&call.results).fold(0, |all, (result, _)| all | one(result));
            let answered = if settles { answered } else { 0 };
            reply(&mut next, of, place, Reply::Done { answered, claims });
            match locked {
                None => self.by_worker(name, of, next),
                Some(locked) => self.by_fault(locked.name(), "worker", of, Fault::Locked, next),
            }
        } else {
            let mut next = self.world.clone();
            reply(&mut next, of, place, Reply::RolledBack);
            self.by_worker("exchange: meets a row of its own number and is rolled back", of, next);
        }
    }

    /// `flow.settle_work`: what has its fence counts.
    fn settle(&self, world: &mut World, of: usize, call: &Exchange) -> Result<(), Violation> {
        for held in &call.results {
            let work = &mut world.work[usize::from(held.piece)];
            let is_fenced = match work.place {
                Place::Held { worker, batch } => {
                    usize::from(worker) == of && (batch == held.batch || !self.holds(Rule::FenceBatch))
                }
                _ => false,
            };
            if is_fenced && work.claim != held.claim {
                return Err(Violation::ResultOfAnotherClaim);
            }
            if is_fenced && held.stage == Stage::Bad {
                // Whoever settles it lives, so it has not killed its process.
                work.suspect = None;
                world.use_attempt(held.piece);
            } else if is_fenced {
                world.complete(held.piece);
            }
        }
        Ok(())
    }

    /// The highest number of an exchange among the rows of a hand.
    fn newest(&self, hand: &[HandRow]) -> u8 {
        let counts = |row: &&HandRow| row.is_exchange || !self.holds(Rule::RepeatOfExchanges);
        hand.iter().filter(counts).map(|row| row.batch).max().unwrap_or(0)
    }

    /// `flow.list_hand`. Returns whether there was no row with this number yet.
    fn list(&self, world: &mut World, of: usize, call: &Exchange, claims: &[Held]) -> bool {
        let worker = &world.workers[of];
        let newest = self.newest(&worker.hand);
        let is_finished = |row: &HandRow| {
            let mut batches = row.places.iter().map(|(_, batch)| call.finished & one(*batch) != 0);
            if self.holds(Rule::RowGoesWhole) { batches.all(|done| done) } else { batches.any(|done| done) }
        };
        let may_go = |row: &HandRow| {
            let is_older = !row.is_exchange || row.batch < newest;
            !claims.is_empty() || is_older || !self.holds(Rule::NewestRowStays)
        };
        let mut hand: Vec<HandRow> =
            worker.hand.iter().filter(|row| !(is_finished(row) && may_go(row))).cloned().collect();
        if !claims.is_empty() {
            let mut places: Vec<(u8, u8)> = claims.iter().map(|held| (held.piece, held.batch)).collect();
            if hand.len() + 1 >= self.setup.fold_at {
                let listed = hand.drain(..).flat_map(|row| row.places);
                places.extend(listed.filter(|(piece, batch)| world.is_fenced(*piece, of as u8, *batch)));
                places.sort_unstable();
            } else if hand.iter().any(|row| row.batch == call.batch) {
                return false;
            }
            hand.push(HandRow { batch: call.batch, is_exchange: true, places });
            hand.sort_by_key(|row| row.batch);
        }
        world.workers[of].hand = hand;
        true
    }

    /// `flow.repeat_exchange`: changes nothing.
    fn answer_again(&mut self, of: usize, place: usize) {
        let mut next = self.world.clone();
        let call = &self.world.workers[of].calls[place];
        if !self.holds(Rule::RepeatSettlesNothing)
            && let Err(violation) = self.settle(&mut next, of, call)
        {
            return self.breaks("exchange: settles with a repeat", "worker", of, violation);
        }
        let is_held = |piece, batch| next.is_fenced(piece, of as u8, batch);
        let mut answered = 0;
        for (result, held) in (0_u8..).zip(&call.results) {
            if !is_held(held.piece, held.batch) {
                answered |= one(result);
            } else if !self.holds(Rule::RepeatAnswersBusy) {
                return self.breaks("exchange: answers a repeat", "worker", of, Violation::ResultDropped);
            }
        }
        let listed = next.workers[of].hand.iter().flat_map(|row| &row.places);
        let handed_out = listed.filter(|(piece, batch)| *batch == call.batch && is_held(*piece, *batch));
        let claims = handed_out.map(|(piece, batch)| held(&next, of, *piece, *batch)).collect();
        reply(&mut next, of, place, Reply::Done { answered, claims });
        self.by_worker("exchange: answers a repeat", of, next);
    }

    /// The connection breaks, before or after the call was committed.
    fn lose_reply(&mut self, of: usize, place: usize) {
        let call = &self.world.workers[of].calls[place];
        if !call.is_awaited || !self.world.has_left(Fault::Lose) || !self.world.is_up(of) {
            return;
        }
        let mut next = self.world.clone();
        if matches!(call.phase, Phase::Replied(_)) {
            next.workers[of].calls.remove(place);
        } else {
            next.workers[of].calls[place].is_awaited = false;
        }
        self.by_fault("exchange: its reply is lost", "worker", of, Fault::Lose, next);
    }
}

/// `flow.worker_state`.
pub(super) fn look(world: &World, of: usize) -> Look {
    let worker = &world.workers[of];
    let process = world.processes[usize::from(worker.process)];
    if worker.is_stopped || process.standing != Standing::Live {
        Look::Refused
    } else if process.is_in_time {
        Look::MayClaim { held: world.company(worker.process), is_closed: world.is_closed(worker.process) }
    } else {
        Look::MaySettle
    }
}

pub(super) fn held(world: &World, of: usize, piece: u8, batch: u8) -> Held {
    let claim = world.work[usize::from(piece)].claim;
    Held { piece, batch, claim, under: world.workers[of].process, stage: Stage::Running, is_lost: false }
}

/// Answers a call; the reply to one that nobody waits for is nothing.
fn reply(world: &mut World, of: usize, place: usize, reply: Reply) {
    let calls = &mut world.workers[of].calls;
    if calls[place].is_awaited {
        calls[place].phase = Phase::Replied(reply);
    } else {
        calls.remove(place);
    }
}
