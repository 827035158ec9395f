//! How processes are ended, what they held is recovered, and how they go on: `end_process`, `recover_hand`, `revive_process`.

use super::{
    rule::{Fault, Rule, Violation},
    start::Start,
    step::Steps,
    suspect::Company,
    world::{Condition, Exchange, Phase, Process, Recovery, Revival, Standing, World, one},
};

impl Steps<'_> {
    pub(super) fn of_recovery(&mut self, of: usize) {
        let program = &self.world.programs[of];
        if program.condition == Condition::Up {
            for process in 0..self.world.processes.len() {
                if self.may_end(of, process) && !program.is_patient {
                    self.end_process(of, process);
                }
            }
            self.look_at_hands(of);
            if program.must_revive && program.revival.is_none() {
                self.send_revival(of);
            }
        }
        if let Some(revival) = program.revival {
            if revival.has_looked { self.commit_revival(of, revival) } else { self.look_for_hands(of, revival) }
        }
        if of == 0 {
            self.recover_hand();
        }
    }

    /// Whether a program may think that a lease is over. With the second look under the lock it does not matter how old the first one is.
    fn may_end(&self, by: usize, process: usize) -> bool {
        let row = self.world.processes[process];
        if self.world.programs[by].has_gap {
            // It has not been told of any lease since the outage.
            return false;
        }
        let is_own = usize::from(self.world.programs[by].process) == process;
        if self.holds(Rule::LeaseCheckedAgain) {
            !is_own && row.standing == Standing::Live && !row.is_in_time
        } else {
            self.world.programs[by].expired & one(process as u8) != 0
        }
    }

    fn end_process(&mut self, by: usize, process: usize) {
        let row = self.world.processes[process];
        let is_locked = |call: &Exchange| {
            let has_begun = matches!(call.phase, Phase::Begun { .. });
            has_begun && usize::from(call.process) == process
        };
        let workers = &self.world.workers;
        if self.holds(Rule::ProcessLock) && workers.iter().flat_map(|worker| &worker.calls).any(is_locked) {
            return;
        }
        let is_starting = |call: &Start| call.has_lock() && usize::from(call.process) == process;
        if self.holds(Rule::StartLock) && workers.iter().flat_map(|worker| &worker.starts).any(is_starting) {
            return;
        }
        let mut next = self.world.clone();
        next.programs[by].expired &= !one(process as u8);
        if row.standing != Standing::Live {
            return;
        }
        if row.is_in_time {
            return self.breaks("end_process", "process", process, Violation::EndedInTime);
        }
        let is_healthy = self
            .world
            .programs
            .iter()
            .any(|program| program.condition == Condition::Up && usize::from(program.process) == process);
        if row.is_spared && is_healthy {
            return self.breaks("end_process", "process", process, Violation::EndedAfterOutage);
        }
        let lost = self.world.company(process as u8);
        next.processes[process] = Process { standing: Standing::Ended, is_in_time: false, is_spared: false, lost };
        self.by_program("end_process", by, next);
    }

    /// A row of a hand whose owner has stopped or was ended.
    fn look_at_hands(&mut self, by: usize) {
        if self.world.recovery.is_some() {
            return;
        }
        for (place, worker) in self.world.workers.iter().enumerate() {
            let standing = self.world.processes[usize::from(worker.process)].standing;
            let has_stopped = worker.is_stopped || standing == Standing::Stopped;
            if !has_stopped && standing == Standing::Live {
                continue;
            }
            for row in &worker.hand {
                let mut next = self.world.clone();
                next.recovery = Some(Recovery { worker: place as u8, batch: row.batch, has_stopped });
                self.by_program("recover_hand: looks at the owner", by, next);
            }
        }
    }

    /// The changes that follow from that look.
    fn recover_hand(&mut self) {
        let Some(recovery) = self.world.recovery else { return };
        let of = usize::from(recovery.worker);
        let mut next = self.world.clone();
        next.recovery = None;
        let worker = &self.world.workers[of];
        let process = self.world.processes[usize::from(worker.process)];
        let listed = worker.hand.iter().filter(|row| row.batch == recovery.batch).flat_map(|row| &row.places);
        for (piece, batch) in listed.filter(|(piece, batch)| self.world.is_fenced(*piece, recovery.worker, *batch)) {
            debug_assert!(next.is_fenced(*piece, recovery.worker, *batch), "listed once in a row");
            if !worker.is_stopped && process.standing == Standing::Live && process.is_in_time {
                return self.breaks("recover_hand", "worker", of, Violation::TakenFromLiving);
            }
            if recovery.has_stopped && self.holds(Rule::GoodbyeCostsNothing) {
                next.give_back(*piece);
            } else if recovery.has_stopped {
                return self.breaks("recover_hand", "worker", of, Violation::AttemptAfterGoodbye);
            } else if let Err(violation) = self.lose(&mut next, *piece, worker.process) {
                return self.breaks("recover_hand", "worker", of, violation);
            }
        }
        next.workers[of].hand.retain(|row| row.batch != recovery.batch);
        self.by_worker("recover_hand: gives back", of, next);
    }

    fn send_revival(&mut self, of: usize) {
        let program = &self.world.programs[of];
        let has_ended = self.world.processes[usize::from(program.process)].standing != Standing::Live;
        let mut to = program.process;
        if has_ended {
            let unused = (1_u8..).zip(&self.world.processes[1..]).find(|(_, row)| row.standing == Standing::Unused);
            let Some((unused, _)) = unused else { return };
            to = unused;
        }
        let members = (0_u8..)
            .zip(&self.world.workers)
            .filter(|(_, worker)| usize::from(worker.program) == of && worker.is_registered && !worker.has_left);
        let workers = members.fold(0, |all, (place, _)| all | one(place));
        let mut next = self.world.clone();
        // What was handed out under a number before is given to others by now.
        for place in (0..next.workers.len()).filter(|place| workers & one(*place as u8) != 0) {
            self.give_start_up(&mut next, place);
        }
        next.programs[of].revival = Some(Revival { from: program.process, to, workers, has_looked: false });
        self.by_program("revive_process: sent", of, next);
    }

    /// The workers that a revival moves to the new number.
    fn moved(&self, world: &World, revival: Revival) -> Vec<usize> {
        let places = 0..world.workers.len();
        let is_moved = |place: &usize| {
            let worker = &world.workers[*place];
            let is_named = if self.holds(Rule::ReviveNamesWorkers) {
                revival.workers & one(*place as u8) != 0 && worker.process != revival.to
            } else {
                worker.is_registered && worker.process == revival.from
            };
            is_named && !worker.is_stopped
        };
        places.filter(is_moved).collect()
    }

    fn look_for_hands(&mut self, of: usize, revival: Revival) {
        let mut next = self.world.clone();
        let has_left_some =
            self.moved(self.world, revival).iter().any(|place| !self.world.workers[*place].hand.is_empty());
        if has_left_some && self.holds(Rule::RevivedAfterRecovery) {
            next.programs[of].revival = None;
            return self.by_program("revive_process: finds that something is still listed", of, next);
        }
        next.programs[of].revival = Some(Revival { has_looked: true, ..revival });
        self.by_program("revive_process: looks for what is listed", of, next);
    }

    fn commit_revival(&mut self, of: usize, revival: Revival) {
        let mut next = self.world.clone();
        next.programs[of].revival = None;
        let row = &mut next.processes[usize::from(revival.to)];
        if row.standing == Standing::Unused {
            *row = Process { standing: Standing::Live, is_in_time: true, is_spared: false, lost: Company::default() };
        }
        for place in self.moved(self.world, revival) {
            next.workers[place].process = revival.to;
        }
        if next.programs[of].condition != Condition::Up {
            return self.by_program("revive_process: is committed, and nobody hears of it", of, next);
        }
        if next.has_left(Fault::Lose) {
            self.by_fault("revive_process: is committed, its reply is lost", "program", of, Fault::Lose, next.clone());
        }
        next.programs[of].process = revival.to;
        next.programs[of].must_revive = false;
        self.by_program("revive_process", of, next);
    }
}
