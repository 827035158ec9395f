//! One state: the rows of the database, what each program knows, and the calls that are on their way.

use super::{
    heartbeat::Beat,
    rule::{FAULTS, Fault, Setup},
    start::{Start, Starting},
    suspect::Company,
};

/// How many attempts a piece of work has.
pub(super) const MAX_ATTEMPTS: u8 = 2;
/// How many handlers of one worker run at a time.
pub(super) const SLOTS: usize = 2;
/// How many numbers of processes there are in one history.
const PROCESSES: usize = 8;

/// A set of small numbers.
pub(super) type Set = u32;

pub(super) fn one(number: u8) -> Set {
    1 << number
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) work: Vec<Work>,
    pub(super) processes: Vec<Process>,
    pub(super) workers: Vec<Worker>,
    pub(super) programs: Vec<Program>,
    /// `recover_hand` between its look at the owner and its changes.
    pub(super) recovery: Option<Recovery>,
    pub(super) budget: [u8; FAULTS],
    /// Programs that have died are started again.
    pub(super) is_restarted: bool,
}

/// A piece of work, as its row says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Work {
    pub(super) place: Place,
    pub(super) attempts_used: u8,
    /// How many suspects a process may hold while it holds this one; 0 when it must be alone; none when it is not suspect.
    pub(super) suspect: Option<u8>,
    /// How often it has killed its process; known to the model alone.
    pub(super) kills: u8,
    /// Which claim is the latest; known to the model alone.
    pub(super) claim: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// Its run has not been started.
    Unborn,
    /// What it depends on has not ended.
    NotReady,
    /// It has a message, or waits as a suspect.
    Waiting,
    /// Started, under this fence.
    Held {
        worker: u8,
        batch: u8,
    },
    Completed,
    Failed,
    Cancelled,
    Pruned,
}

/// A row of `flow.process`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) standing: Standing,
    /// Its lease is not over.
    pub(super) is_in_time: bool,
    /// It has not renewed since the last outage, which is less than a lease ago; known to the model alone.
    pub(super) is_spared: bool,
    /// What it held when it was ended.
    pub(super) lost: Company,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Standing {
    Unused,
    Live,
    Ended,
    Stopped,
}

/// A worker: its row, its hand, and what its program knows of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Worker {
    /// The process that its row names.
    pub(super) process: u8,
    pub(super) is_registered: bool,
    pub(super) is_stopped: bool,
    pub(super) hand: Vec<HandRow>,

    pub(super) program: u8,
    /// A registration that is on its way, for this process.
    pub(super) joining: Option<u8>,
    pub(super) is_draining: bool,
    pub(super) has_left: bool,
    pub(super) highest: u8,
    /// The number of the latest exchange.
    pub(super) exchange: u8,
    pub(super) is_outstanding: bool,
    /// The latest exchange was sent more than once; known to the model alone.
    pub(super) is_resent: bool,
    pub(super) held: Vec<Held>,
    pub(super) finished: Set,
    pub(super) calls: Vec<Exchange>,
    /// The start whose reply is to be taken over.
    pub(super) starting: Option<Starting>,
    pub(super) starts: Vec<Start>,
}

/// A row of `flow.hand`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct HandRow {
    pub(super) batch: u8,
    /// An exchange has handed it out; else a start has.
    pub(super) is_exchange: bool,
    /// Each piece of work with the batch that handed it out.
    pub(super) places: Vec<(u8, u8)>,
}

/// A piece of work as a program holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Held {
    pub(super) piece: u8,
    pub(super) batch: u8,
    /// From which claim, and under which process; known to the model alone.
    pub(super) claim: u8,
    pub(super) under: u8,
    pub(super) stage: Stage,
    pub(super) is_lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Stage {
    Running,
    /// Running far past its timeout.
    Over,
    /// It has a result.
    Good,
    Bad,
    /// It has a result that came far past its timeout.
    LateGood,
}

/// A call of `flow.exchange`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Exchange {
    pub(super) batch: u8,
    pub(super) process: u8,
    pub(super) results: Vec<Held>,
    pub(super) finished: Set,
    pub(super) limit: u8,
    pub(super) phase: Phase,
    /// Its program still waits for the reply.
    pub(super) is_awaited: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    Sent,
    /// It has looked and has no lock yet: only without the rule that forbids it.
    Looked(Look),
    Begun {
        look: Look,
        is_repeat: bool,
    },
    Replied(Reply),
}

/// What `worker_state` has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Look {
    Refused,
    MaySettle,
    /// With what its process held then, and whether a suspect that must be alone kept it from claiming.
    MayClaim {
        held: Company,
        is_closed: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Reply {
    /// Nothing was done; every result is lost.
    Refused,
    /// The call was rolled back.
    RolledBack,
    /// Which results were answered for, by their places, and what was handed out.
    Done { answered: Set, claims: Vec<Held> },
}

/// A program with one heartbeat.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Program {
    pub(super) condition: Condition,
    /// Its process.
    pub(super) process: u8,
    pub(super) beats: Vec<Beat>,
    pub(super) revival: Option<Revival>,
    /// It has heard that its process was ended, or that some worker's was.
    pub(super) must_revive: bool,
    /// Processes whose leases it has heard to be over.
    pub(super) expired: Set,
    /// It has not renewed for more than half a lease.
    pub(super) has_gap: bool,
    /// It may not end others yet.
    pub(super) is_patient: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Condition {
    Up,
    Frozen,
    Crashed,
    /// All of its workers have left, and it has said goodbye.
    Left,
}

/// A call of `flow.revive_process`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Revival {
    pub(super) from: u8,
    pub(super) to: u8,
    pub(super) workers: Set,
    pub(super) has_looked: bool,
}

/// A call of `flow.recover_hand` that has looked at the owner of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Recovery {
    pub(super) worker: u8,
    pub(super) batch: u8,
    pub(super) has_stopped: bool,
}

impl Work {
    pub(super) fn has_ended(&self) -> bool {
        !matches!(self.place, Place::Unborn | Place::NotReady | Place::Waiting | Place::Held { .. })
    }
}

impl Held {
    pub(super) fn has_result(&self) -> bool {
        matches!(self.stage, Stage::Good | Stage::Bad | Stage::LateGood)
    }
}

impl World {
    /// The state in which everything waits and every process has just registered.
    pub(super) fn first(setup: &Setup) -> Self {
        let unused =
            Process { standing: Standing::Unused, is_in_time: false, is_spared: false, lost: Company::default() };
        let mut processes = vec![unused; PROCESSES];
        let (mut programs, mut workers) = (Vec::new(), Vec::new());
        for (program, count) in (0_u8..).zip(&setup.programs) {
            processes[usize::from(program) + 1] = Process { standing: Standing::Live, is_in_time: true, ..unused };
            programs.push(Program {
                condition: Condition::Up,
                process: program + 1,
                beats: Vec::new(),
                revival: None,
                must_revive: false,
                expired: 0,
                has_gap: false,
                is_patient: false,
            });
            for place in 0..*count {
                let is_late = setup.joins_late && program == 0 && place + 1 == *count;
                workers.push(Worker {
                    process: program + 1,
                    is_registered: !is_late,
                    is_stopped: false,
                    hand: Vec::new(),
                    program,
                    joining: None,
                    is_draining: false,
                    has_left: false,
                    highest: 0,
                    exchange: 0,
                    is_outstanding: false,
                    is_resent: false,
                    held: Vec::new(),
                    finished: 0,
                    calls: Vec::new(),
                    starting: None,
                    starts: Vec::new(),
                });
            }
        }
        let mut work =
            vec![Work { place: Place::Waiting, attempts_used: 0, suspect: None, kills: 0, claim: 0 }; setup.work];
        if setup.is_chain {
            work[1..].iter_mut().for_each(|work| work.place = Place::NotReady);
            work[..setup.starts].iter_mut().for_each(|work| work.place = Place::Unborn);
        } else {
            work.iter_mut().rev().take(setup.starts).for_each(|work| work.place = Place::Unborn);
        }
        Self {
            work,
            processes,
            workers,
            programs,
            recovery: None,
            budget: setup.budget(),
            is_restarted: !setup.poison.is_empty(),
        }
    }

    pub(super) fn has_left(&self, fault: Fault) -> bool {
        self.budget[fault as usize] > 0
    }

    pub(super) fn spend(&mut self, fault: Fault) {
        self.budget[fault as usize] -= 1;
    }

    pub(super) fn is_up(&self, worker: usize) -> bool {
        self.programs[usize::from(self.workers[worker].program)].condition == Condition::Up
    }

    pub(super) fn is_fenced(&self, piece: u8, worker: u8, batch: u8) -> bool {
        self.work[usize::from(piece)].place == Place::Held { worker, batch }
    }

    /// `wait_again`, without an attempt.
    pub(super) fn give_back(&mut self, piece: u8) {
        self.work[usize::from(piece)].place = Place::Waiting;
    }

    /// A failure, or `lose_work`: the attempt is used.
    pub(super) fn use_attempt(&mut self, piece: u8) {
        let work = &mut self.work[usize::from(piece)];
        work.attempts_used += 1;
        work.place = if work.attempts_used >= MAX_ATTEMPTS { Place::Failed } else { Place::Waiting };
        if work.place == Place::Failed {
            work.suspect = None;
            self.end_followers(piece);
        }
    }

    /// The work is done, and what follows is ready: it waits, unless the same exchange hands it out.
    pub(super) fn complete(&mut self, piece: u8) {
        let work = &mut self.work[usize::from(piece)];
        (work.place, work.suspect) = (Place::Completed, None);
        if let Some(next) = self.work.get_mut(usize::from(piece) + 1).filter(|next| next.place == Place::NotReady) {
            next.place = Place::Waiting;
        }
    }

    /// The run of a piece of work has ended early: what depends on it is never claimed.
    pub(super) fn end_followers(&mut self, piece: u8) {
        let followers = self.work.iter_mut().skip(usize::from(piece) + 1);
        followers.filter(|work| work.place == Place::NotReady).for_each(|work| work.place = Place::Cancelled);
    }

    pub(super) fn all_work_has_ended(&self) -> bool {
        self.work.iter().all(|work| work.has_ended())
    }

    /// Nothing more can happen to any work, and every worker that lives can go on.
    pub(super) fn is_over(&self) -> bool {
        self.all_work_has_ended() && self.is_settled()
    }

    /// All work has ended and every worker that lives can claim again; or nobody is left who could work.
    pub(super) fn is_settled(&self) -> bool {
        let mut living = 0;
        let mut is_usable = true;
        for worker in &self.workers {
            let program = &self.programs[usize::from(worker.program)];
            let lives = matches!(program.condition, Condition::Up | Condition::Frozen);
            if lives && worker.is_registered && !worker.is_draining && !worker.is_stopped {
                living += 1;
                is_usable &= program.condition == Condition::Up
                    && worker.process == program.process
                    && self.processes[usize::from(worker.process)].standing == Standing::Live;
            }
        }
        (living == 0 && !self.is_restarted) || (is_usable && self.all_work_has_ended())
    }
}
