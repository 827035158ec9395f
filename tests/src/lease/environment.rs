//! What happens to processes and runs: crashes, freezes, leases that end, an outage, cancel and prune.

use super::{
    rule::Fault,
    start::StartPhase,
    step::{Action, Steps},
    suspect::Company,
    world::{Condition, Phase, Place, Process, Standing, Worker, World},
};

impl Steps<'_> {
    pub(super) fn of_environment(&mut self, of: usize) {
        let world = self.world;
        let program = &world.programs[of];
        match program.condition {
            Condition::Up => {
                if world.has_left(Fault::Crash) {
                    self.by_fault("the process dies", "program", of, Fault::Crash, crash(world, of));
                }
                if world.has_left(Fault::Freeze) {
                    let mut next = world.clone();
                    next.programs[of].condition = Condition::Frozen;
                    self.by_fault("the process stands still", "program", of, Fault::Freeze, next);
                }
            }
            Condition::Frozen => {
                let mut next = world.clone();
                next.programs[of].condition = Condition::Up;
                self.by_program("the process goes on", of, next);
            }
            Condition::Crashed if world.is_restarted => self.start_again(of),
            Condition::Crashed | Condition::Left => {}
        }
        self.let_leases_end(of);
        if of == 0 {
            self.outage();
        }
    }

    /// The leases of processes that nobody renews end by themselves; those of healthy ones only because a heartbeat is slow.
    fn let_leases_end(&mut self, of: usize) {
        let world = self.world;
        let program = &world.programs[of];
        let is_renewed = |process: u8| process == program.process && program.condition == Condition::Up;
        let belong = |process: &u8| {
            let by_worker =
                world.workers.iter().any(|worker| usize::from(worker.program) == of && worker.process == *process);
            *process == program.process || by_worker
        };
        for process in (1..world.processes.len() as u8).filter(belong) {
            let row = world.processes[usize::from(process)];
            if row.standing != Standing::Live || !row.is_in_time {
                continue;
            }
            let mut next = world.clone();
            next.processes[usize::from(process)].is_in_time = false;
            let action = Action { name: "a lease ends", whom: "process", which: usize::from(process) };
            if !is_renewed(process) || row.is_spared {
                self.add(action, false, Ok(next));
            } else if world.has_left(Fault::Late) {
                self.by_fault(action.name, action.whom, action.which, Fault::Late, next);
            }
        }
    }

    /// A program that has died comes back as a new process, when what it held was recovered; numbers are used again, to have few of them.
    fn start_again(&mut self, of: usize) {
        let world = self.world;
        let of_program = |worker: &&Worker| usize::from(worker.program) == of;
        let is_gone = world
            .workers
            .iter()
            .filter(of_program)
            .all(|worker| worker.hand.is_empty() && worker.calls.is_empty() && worker.starts.is_empty());
        let process = usize::from(world.programs[of].process);
        if !is_gone || world.processes[process].standing == Standing::Live {
            return;
        }
        let mut next = world.clone();
        next.programs[of].condition = Condition::Up;
        next.programs[of].beats.clear();
        let fresh = Process { standing: Standing::Live, is_in_time: true, is_spared: false, lost: Company::default() };
        next.processes[process] = fresh;
        next.workers
            .iter_mut()
            .filter(|worker| usize::from(worker.program) == of)
            .for_each(|worker| (worker.highest, worker.exchange) = (0, 0));
        self.by_program("the program is started again", of, next);
    }

    fn outage(&mut self) {
        let world = self.world;
        if world.has_left(Fault::Outage) {
            let mut next = world.clone();
            for program in next.programs.iter_mut().filter(|program| program.condition == Condition::Up) {
                program.has_gap = true;
                next.processes[usize::from(program.process)].is_spared = true;
            }
            self.by_fault("an outage of more than half a lease ends", "program", 0, Fault::Outage, next);
        }
        let waits = world.programs.iter().any(|program| program.is_patient);
        // A healthy program renews more often than once a lease.
        let has_come_back = |process: &u8| !world.processes[usize::from(*process)].is_spared;
        let is_up = world.programs.iter().filter(|program| program.condition == Condition::Up);
        if waits && is_up.map(|program| program.process).all(|process| has_come_back(&process)) {
            let mut next = world.clone();
            next.programs.iter_mut().for_each(|program| program.is_patient = false);
            next.processes.iter_mut().for_each(|process| process.is_spared = false);
            self.by_program("a lease has passed since the outage", 0, next);
        }
    }

    pub(super) fn of_runs(&mut self) {
        let world = self.world;
        for (piece, work) in world.work.iter().enumerate() {
            let has_ended = work.has_ended();
            let mut next = world.clone();
            if !has_ended && work.place != Place::Unborn && world.has_left(Fault::Cancel) {
                next.work[piece].place = Place::Cancelled;
                next.end_followers(piece as u8);
                self.by_fault("cancel_run", "work", piece, Fault::Cancel, next);
            } else if has_ended && work.place != Place::Pruned && world.has_left(Fault::Prune) {
                next.work[piece].place = Place::Pruned;
                self.by_fault("prune", "work", piece, Fault::Prune, next);
            }
        }
    }
}

/// What the program knew is gone; what it has sent may still be done.
pub(super) fn crash(world: &World, of: usize) -> World {
    let mut next = world.clone();
    let program = &mut next.programs[of];
    program.condition = Condition::Crashed;
    program.beats.iter_mut().for_each(|beat| beat.is_awaited = false);
    program.must_revive = false;
    program.has_gap = false;
    program.is_patient = false;
    program.expired = 0;
    for worker in next.workers.iter_mut().filter(|worker| usize::from(worker.program) == of) {
        worker.held.clear();
        worker.finished = 0;
        worker.is_outstanding = false;
        worker.calls.retain(|call| !matches!(call.phase, Phase::Replied(_)));
        worker.calls.iter_mut().for_each(|call| call.is_awaited = false);
        worker.starting = None;
        worker.starts.retain(|call| !matches!(call.phase, StartPhase::Replied(_)));
        worker.starts.iter_mut().for_each(|call| call.is_awaited = false);
    }
    next
}
