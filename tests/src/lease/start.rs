//! A start that hands over: what its program sends, what the database does with it, and how its reply is taken over or ignored.

use super::{
    exchange::{held, look},
    rule::{Fault, Rule, Violation},
    step::Steps,
    world::{HandRow, Held, Look, Place, SLOTS, World},
};

/// A start that hands over, as its program remembers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Starting {
    pub(super) piece: u8,
    pub(super) batch: u8,
    /// Nobody waits for it: only without the rule that forgets it then.
    pub(super) is_given_up: bool,
}

/// A call of `flow.start_runs_quietly` that may hand over.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Start {
    pub(super) piece: u8,
    pub(super) batch: u8,
    pub(super) process: u8,
    pub(super) phase: StartPhase,
    /// Its program still waits for the reply.
    pub(super) is_awaited: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum StartPhase {
    Sent,
    /// It has looked and has no lock yet: only without the rule that forbids it.
    Looked(bool),
    /// It has its lock, and knows whether it may hand over.
    Begun(bool),
    Replied(Option<Held>),
}

impl Steps<'_> {
    /// What a worker's program does about its starts.
    pub(super) fn of_starter(&mut self, of: usize) {
        let world = self.world;
        let worker = &world.workers[of];
        if !world.is_up(of) || worker.has_left || !worker.is_registered {
            return;
        }
        match worker.starting {
            None => self.send_start(of),
            Some(starting) if !starting.is_given_up => {
                let is_awaited = worker.starts.iter().any(|call| call.is_awaited && call.batch == starting.batch);
                if !is_awaited && worker.starts.len() < 2 {
                    let mut next = world.clone();
                    let process = next.programs[usize::from(worker.program)].process;
                    next.workers[of].starts.push(Start::new(starting, process));
                    self.by_worker("start: sent again", of, next);
                }
                if world.has_left(Fault::GiveUp) {
                    let mut next = world.clone();
                    self.give_start_up(&mut next, of);
                    self.by_fault("start: its caller gives up", "worker", of, Fault::GiveUp, next);
                }
            }
            Some(_) => {}
        }
        for place in 0..worker.starts.len() {
            self.take_start_reply(of, place);
        }
    }

    /// A start of the next run, into a slot that nothing else may take until it has been answered.
    fn send_start(&mut self, of: usize) {
        let world = self.world;
        let worker = &world.workers[of];
        let Some(piece) = world.work.iter().position(|work| work.place == Place::Unborn) else { return };
        let running = worker.held.iter().filter(|held| !held.has_result()).count();
        let asked_for = worker.calls.iter().map(|call| usize::from(call.limit)).max().unwrap_or(0);
        let is_elsewhere =
            world.workers.iter().any(|worker| worker.starts.iter().any(|call| usize::from(call.piece) == piece));
        if worker.is_draining || worker.starts.len() > 1 || running + asked_for >= SLOTS || is_elsewhere {
            return;
        }
        let mut next = world.clone();
        let process = next.programs[usize::from(worker.program)].process;
        let worker = &mut next.workers[of];
        worker.highest += 1;
        let starting = Starting { piece: piece as u8, batch: worker.highest, is_given_up: false };
        worker.starting = Some(starting);
        worker.starts.push(Start::new(starting, process));
        self.by_worker("start: sent", of, next);
    }

    /// The start is not outstanding any more, and whoever waits for its reply has gone.
    pub(super) fn give_start_up(&self, world: &mut World, of: usize) {
        let worker = &mut world.workers[of];
        if self.holds(Rule::StartGivenUp) {
            worker.starting = None;
        } else if let Some(starting) = &mut worker.starting {
            starting.is_given_up = true;
        }
        if self.holds(Rule::GivenUpIgnored) {
            worker.starts.retain(|call| !matches!(call.phase, StartPhase::Replied(_)));
            worker.starts.iter_mut().for_each(|call| call.is_awaited = false);
        }
    }

    fn take_start_reply(&mut self, of: usize, place: usize) {
        let call = &self.world.workers[of].starts[place];
        let StartPhase::Replied(claim) = call.phase else { return };
        if !call.is_awaited {
            return;
        }
        let mut next = self.world.clone();
        let worker = &mut next.workers[of];
        worker.starts.remove(place);
        worker.starting = None;
        worker.held.extend(claim);
        worker.held.sort();
        self.by_worker("start: its reply is taken over", of, next);
    }

    /// What the database does with the starts of a worker's program.
    pub(super) fn of_starts(&mut self, of: usize) {
        for place in 0..self.world.workers[of].starts.len() {
            match self.world.workers[of].starts[place].phase {
                StartPhase::Sent if self.holds(Rule::LookAfterLocks) => self.begin_start(of, place, None),
                StartPhase::Sent => {
                    let mut next = self.world.clone();
                    next.workers[of].starts[place].phase = StartPhase::Looked(self.look_for_start(of, place));
                    self.by_worker("start: looks without its lock", of, next);
                }
                StartPhase::Looked(may_hand) => self.begin_start(of, place, Some(may_hand)),
                StartPhase::Begun(may_hand) => self.commit_start(of, place, may_hand),
                StartPhase::Replied(_) => {}
            }
            self.lose_start_reply(of, place);
        }
    }

    /// Whether the start may hand over: its process is the worker's and has its lease, and no suspect keeps it closed.
    fn look_for_start(&self, of: usize, place: usize) -> bool {
        let worker = &self.world.workers[of];
        let is_own = worker.starts[place].process == worker.process || !self.holds(Rule::OwnProcess);
        let is_open = matches!(look(self.world, of), Look::MayClaim { is_closed, .. } if !is_closed || !self.holds(Rule::AloneKept));
        is_own && is_open
    }

    /// Takes the lock of the process and looks; who ends a process holds that lock for one step only, which comes before or after.
    fn begin_start(&mut self, of: usize, place: usize, seen: Option<bool>) {
        let may_hand = seen.unwrap_or_else(|| self.look_for_start(of, place));
        let mut next = self.world.clone();
        next.workers[of].starts[place].phase = StartPhase::Begun(may_hand);
        self.by_worker(if may_hand { "start: begins" } else { "start: begins, without handing over" }, of, next);
    }

    fn commit_start(&mut self, of: usize, place: usize, may_hand: bool) {
        let worker = &self.world.workers[of];
        let Start { piece, batch, .. } = worker.starts[place];
        let newest = worker.hand.iter().map(|row| row.batch).max().unwrap_or(0);
        let is_new = self.world.work[usize::from(piece)].place == Place::Unborn;
        let is_repeat = if self.holds(Rule::StartRepeatByRun) { !is_new } else { batch <= newest };
        if is_repeat && is_new {
            return self.breaks("start: answers a repeat", "worker", of, Violation::AnsweredUndone);
        }
        let mut next = self.world.clone();
        let (claim, name): (Option<Held>, _) = if !is_new {
            let listed = worker.hand.iter().any(|row| row.places.contains(&(piece, batch)));
            let is_held = listed && self.world.is_fenced(piece, of as u8, batch);
            (is_held.then(|| held(&next, of, piece, batch)), "start: answers a repeat")
        } else if may_hand {
            let work = &mut next.work[usize::from(piece)];
            (work.place, work.claim) = (Place::Held { worker: of as u8, batch }, work.claim + 1);
            if self.holds(Rule::StartListed) {
                next.workers[of].hand.push(HandRow { batch, is_exchange: false, places: vec![(piece, batch)] });
                next.workers[of].hand.sort_by_key(|row| row.batch);
            }
            (Some(held(&next, of, piece, batch)), "start: is committed, handing over")
        } else {
            next.work[usize::from(piece)].place = Place::Waiting;
            (None, "start: is committed")
        };
        let call = &mut next.workers[of].starts[place];
        if call.is_awaited {
            call.phase = StartPhase::Replied(claim);
        } else {
            next.workers[of].starts.remove(place);
        }
        self.by_worker(name, of, next);
    }

    fn lose_start_reply(&mut self, of: usize, place: usize) {
        let call = &self.world.workers[of].starts[place];
        if !call.is_awaited || !self.world.has_left(Fault::Lose) || !self.world.is_up(of) {
            return;
        }
        let mut next = self.world.clone();
        if matches!(call.phase, StartPhase::Replied(_)) {
            next.workers[of].starts.remove(place);
        } else {
            next.workers[of].starts[place].is_awaited = false;
        }
        self.by_fault("start: its reply is lost", "worker", of, Fault::Lose, next);
    }

    /// A start by a program without workers: its run waits.
    pub(super) fn start_elsewhere(&mut self) {
        for (piece, work) in self.world.work.iter().enumerate() {
            let is_sent = self.world.workers.iter().any(|worker| {
                worker.starts.iter().any(|call| usize::from(call.piece) == piece)
                    || worker.starting.is_some_and(|starting| usize::from(starting.piece) == piece)
            });
            if work.place == Place::Unborn && !is_sent {
                let mut next = self.world.clone();
                next.work[piece].place = Place::Waiting;
                self.add(
                    super::step::Action { name: "start_runs, by another program", whom: "work", which: piece },
                    false,
                    Ok(next),
                );
            }
        }
    }
}

impl Start {
    fn new(starting: Starting, process: u8) -> Self {
        let Starting { piece, batch, .. } = starting;
        Self { piece, batch, process, phase: StartPhase::Sent, is_awaited: true }
    }

    /// Whether it holds its process's lock.
    pub(super) fn has_lock(&self) -> bool {
        matches!(self.phase, StartPhase::Begun(_))
    }
}
