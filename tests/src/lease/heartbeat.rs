//! `flow.heartbeat`: what a program tells of its workers, what the database does with it, and what the program hears.

use super::{
    rule::{Fault, Rule, Violation},
    step::Steps,
    world::{Condition, Held, Program, Stage, Standing, World, one},
};

/// A call of `flow.heartbeat`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Beat {
    pub(super) process: u8,
    pub(super) pulses: Vec<Pulse>,
    pub(super) is_awaited: bool,
    /// What is held was written down, the numbers are not yet: only without the rule that forbids it.
    pub(super) is_draft: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Pulse {
    pub(super) worker: u8,
    pub(super) highest: u8,
    /// 0 when no reply is to come.
    pub(super) outstanding: u8,
    /// Of a start; 0 when none is to come.
    pub(super) outstanding_start: u8,
    pub(super) held: Vec<HeldPulse>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct HeldPulse {
    pub(super) piece: u8,
    pub(super) batch: u8,
    pub(super) is_over: bool,
    pub(super) has_result: bool,
}

/// What the database answers.
struct Heard {
    has_ended: bool,
    has_strays: bool,
    expired: u32,
    /// Worker, piece and batch of what is somebody else's by now.
    lost: Vec<(u8, u8, u8)>,
}

impl Steps<'_> {
    pub(super) fn of_heartbeat(&mut self, of: usize) {
        let program = &self.world.programs[of];
        if program.condition == Condition::Up
            && !self.setup.is_quiet
            && !program.beats.iter().any(|beat| beat.is_awaited)
        {
            self.compose(of);
        }
        for place in 0..program.beats.len() {
            if program.beats[place].is_draft {
                self.complete_draft(of, place);
            } else {
                self.commit_beat(of, place);
            }
            self.lose_beat(of, place);
        }
    }

    fn compose(&mut self, of: usize) {
        let program = &self.world.programs[of];
        if program.beats.len() > 1 {
            return;
        }
        let mut next = self.world.clone();
        if self.holds(Rule::LostTryEnded) {
            next.programs[of].beats.clear();
        }
        let is_draft = !self.holds(Rule::OneMoment);
        let pulses = (0..self.world.workers.len()).filter_map(|worker| self.pulse(of, worker)).collect();
        next.programs[of].beats.push(Beat { process: program.process, pulses, is_awaited: true, is_draft });
        self.by_program("heartbeat: sent", of, next);
    }

    /// What a heartbeat tells of a worker.
    fn pulse(&self, of: usize, place: usize) -> Option<Pulse> {
        let worker = &self.world.workers[place];
        if usize::from(worker.program) != of || !worker.is_registered || worker.has_left {
            return None;
        }
        let tell = |held: &Held| {
            let is_over = match held.stage {
                Stage::Over => true,
                Stage::LateGood => !self.holds(Rule::OverWithoutResult),
                _ => false,
            };
            HeldPulse { piece: held.piece, batch: held.batch, is_over, has_result: held.has_result() }
        };
        Some(Pulse {
            worker: place as u8,
            highest: worker.highest,
            outstanding: if worker.is_outstanding { worker.exchange } else { 0 },
            outstanding_start: worker.starting.map_or(0, |starting| starting.batch),
            held: worker.held.iter().filter(|held| !held.is_lost).map(tell).collect(),
        })
    }

    /// The numbers, looked up later than what is held.
    fn complete_draft(&mut self, of: usize, place: usize) {
        let mut next = self.world.clone();
        let beat = &mut next.programs[of].beats[place];
        beat.is_draft = false;
        for pulse in &mut beat.pulses {
            if let Some(now) = self.pulse(of, usize::from(pulse.worker)) {
                (pulse.highest, pulse.outstanding) = (now.highest, now.outstanding);
                pulse.outstanding_start = now.outstanding_start;
            }
        }
        self.by_program("heartbeat: looks up its numbers", of, next);
    }

    fn commit_beat(&mut self, of: usize, place: usize) {
        let beat = &self.world.programs[of].beats[place];
        let mut next = self.world.clone();
        next.programs[of].beats.remove(place);
        let process = &mut next.processes[usize::from(beat.process)];
        let has_ended = process.standing != Standing::Live;
        if !has_ended {
            process.is_in_time = true;
            process.is_spared = false;
            for pulse in &beat.pulses {
                if let Err(violation) = self.take_back(&mut next, pulse) {
                    return self.breaks("heartbeat: takes back", "program", of, violation);
                }
                self.give_unknown_back(&mut next, pulse);
            }
        }
        if !beat.is_awaited || next.programs[of].condition != Condition::Up {
            return self.by_program("heartbeat: is committed, and nobody hears of it", of, next);
        }
        if next.has_left(Fault::Lose) {
            self.by_fault("heartbeat: is committed, its reply is lost", "program", of, Fault::Lose, next.clone());
        }
        let heard = hear(&next, beat, has_ended);
        self.take_in(&mut next, of, &heard);
        self.by_program(if has_ended { "heartbeat: hears of its end" } else { "heartbeat" }, of, next);
    }

    /// What has run far past its timeout loses its attempt.
    fn take_back(&self, world: &mut World, pulse: &Pulse) -> Result<(), Violation> {
        for held in pulse.held.iter().filter(|held| held.is_over && self.holds(Rule::OverTaken)) {
            if world.is_fenced(held.piece, pulse.worker, held.batch) {
                if held.has_result {
                    return Err(Violation::ResultThrownAway);
                }
                world.use_attempt(held.piece);
                world.work[usize::from(held.piece)].suspect = None;
            }
        }
        Ok(())
    }

    /// What is listed, not to come and not held, is given back.
    fn give_unknown_back(&self, world: &mut World, pulse: &Pulse) {
        if !self.holds(Rule::UnknownGivenBack) {
            return;
        }
        let listed = world.workers[usize::from(pulse.worker)].hand.iter().flat_map(|row| row.places.clone());
        let is_known = |piece: u8, batch: u8| pulse.held.iter().any(|held| (held.piece, held.batch) == (piece, batch));
        for (piece, batch) in listed.collect::<Vec<_>>() {
            let is_above = self.holds(Rule::HighestNamed) && batch > pulse.highest;
            let is_to_come = self.holds(Rule::OutstandingNamed) && batch == pulse.outstanding
                || self.holds(Rule::StartOutstandingNamed) && batch == pulse.outstanding_start;
            if !is_above && !is_to_come && !is_known(piece, batch) && world.is_fenced(piece, pulse.worker, batch) {
                world.give_back(piece);
            }
        }
    }

    fn take_in(&self, world: &mut World, of: usize, heard: &Heard) {
        for (worker, piece, batch) in &heard.lost {
            let held = &mut world.workers[usize::from(*worker)].held;
            held.iter_mut()
                .filter(|held| (held.piece, held.batch) == (*piece, *batch))
                .for_each(|held| held.is_lost = true);
            held.sort();
        }
        let (checks_again, names_workers) = (self.holds(Rule::LeaseCheckedAgain), self.holds(Rule::ReviveNamesWorkers));
        let waits_for_all = self.holds(Rule::PatienceForAll) || heard.expired != 0;
        let is_patient = self.holds(Rule::PatienceAfterGap) && waits_for_all;
        let program: &mut Program = &mut world.programs[of];
        program.must_revive = heard.has_ended || (heard.has_strays && names_workers);
        program.expired = if checks_again { 0 } else { heard.expired };
        if program.has_gap {
            program.has_gap = false;
            program.is_patient = is_patient;
        }
    }

    fn lose_beat(&mut self, of: usize, place: usize) {
        let program = &self.world.programs[of];
        let is_up = program.condition == Condition::Up;
        if is_up
            && program.beats[place].is_awaited
            && self.world.has_left(Fault::Lose)
            && !self.holds(Rule::LostTryEnded)
        {
            let mut next = self.world.clone();
            next.programs[of].beats[place].is_awaited = false;
            self.by_fault("heartbeat: its connection is lost", "program", of, Fault::Lose, next);
        }
    }
}

fn hear(world: &World, beat: &Beat, has_ended: bool) -> Heard {
    let mut expired = 0;
    for (process, row) in (0_u8..).zip(&world.processes) {
        if row.standing == Standing::Live && !row.is_in_time && process != beat.process {
            expired |= one(process);
        }
    }
    let mut lost = Vec::new();
    for pulse in &beat.pulses {
        for held in &pulse.held {
            if has_ended || !world.is_fenced(held.piece, pulse.worker, held.batch) {
                lost.push((pulse.worker, held.piece, held.batch));
            }
        }
    }
    let is_stray = |pulse: &Pulse| {
        let process = world.workers[usize::from(pulse.worker)].process;
        world.processes[usize::from(process)].standing != Standing::Live
    };
    Heard { has_ended, has_strays: beat.pulses.iter().any(is_stray), expired, lost }
}
