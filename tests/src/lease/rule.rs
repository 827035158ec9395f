//! What the model can be asked: which rules hold, which faults happen how often, how much of everything there is, and what may go wrong.

/// A rule of the protocol. Each can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// An exchange holds its process's lock, and who ends a process tries the same lock alone.
    ProcessLock,
    /// Exchanges of one worker come one after the other.
    WorkerLock,
    /// An exchange looks its process up after it has the locks.
    LookAfterLocks,
    /// An exchange is refused when its worker belongs to another process by now than the one whose lock it holds.
    OwnProcess,
    /// Who ends a process checks its lease again under the lock.
    LeaseCheckedAgain,
    /// An exchange whose number is not above the newest listed one only gets an answer.
    RepeatByNumber,
    /// The newest row of a hand stays until a newer one is there.
    NewestRowStays,
    /// A repeat records no results.
    RepeatSettlesNothing,
    /// A repeat answers `busy` for results whose work is still held.
    RepeatAnswersBusy,
    /// A heartbeat leaves alone what was handed out above the highest number that it names.
    HighestNamed,
    /// A heartbeat leaves alone what was handed out by the exchange whose reply is still to come.
    OutstandingNamed,
    /// What a heartbeat tells is of one moment.
    OneMoment,
    /// What is listed and neither to come nor held is given back.
    UnknownGivenBack,
    /// A batch is called finished only when every piece of it has been answered for.
    FinishedWhenAnswered,
    /// A batch that handed nothing out is never called finished.
    FinishedWhenHandedOut,
    /// A row of a hand goes when all of its batches are finished.
    RowGoesWhole,
    /// Work far past its timeout is taken back by its own heartbeat.
    OverTaken,
    /// No work whose result waits is taken back.
    OverWithoutResult,
    /// Who has not renewed for half a lease waits before it ends others.
    PatienceAfterGap,
    /// That wait is a full lease, also when the others' leases end only after the first renewal.
    PatienceForAll,
    /// What a worker held that has said goodbye uses no attempt.
    GoodbyeCostsNothing,
    /// The batch is part of the fence.
    FenceBatch,
    /// A process goes on under a new number only when nothing of its workers' hands is left.
    RevivedAfterRecovery,
    /// `revive_process` names the workers: also one whose row names yet another process, because a reply was lost or because it was
    /// registered for the ended process meanwhile.
    ReviveNamesWorkers,
    /// What is lost together with other work uses no attempt.
    CompanyUsesNone,
    /// What was lost together is counted when the process is ended, not when each part of it is recovered.
    CountedAtEnd,
    /// The only suspect that is lost beside other work must be alone from then on.
    OnlySuspectAlone,
    /// A process holds at most as many suspects as the smallest limit among them.
    SuspectsLimited,
    /// Who claims a suspect counts what its process holds under a lock of the process, in a statement later than the lock.
    SuspectsCountedLocked,
    /// A suspect that must be alone is claimed only by a process that holds nothing.
    AloneWhenEmpty,
    /// It is claimed only while no other exchange of the process is at work.
    AloneByLock,
    /// A process claims nothing else while it holds one.
    AloneKept,
    /// A start that hands over is a repeat when its run exists, whatever its number is.
    StartRepeatByRun,
    /// An exchange is a repeat by the newest row of an exchange; the rows of starts do not count.
    RepeatOfExchanges,
    /// A start that hands over holds its process's lock.
    StartLock,
    /// What a start hands over is listed in the worker's hand.
    StartListed,
    /// A heartbeat leaves alone what was handed out by a start whose reply is still to come.
    StartOutstandingNamed,
    /// A start whose caller has given up for good is not outstanding any more.
    StartGivenUp,
    /// The reply of such a start is ignored.
    GivenUpIgnored,
    /// What the server is doing for a lost connection has ended before its program tries again.
    LostTryEnded,
}

/// What the environment does to processes and calls, a limited number of times in one history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A reply is lost, of any call.
    Lose,
    /// A reply arrives and cannot be read.
    Unread,
    /// The lease of a healthy process ends, because its heartbeat is slow.
    Late,
    /// A process dies.
    Crash,
    /// A process stands still, and goes on some time later.
    Freeze,
    /// For longer than half a lease nobody reaches the database.
    Outage,
    /// A handler fails.
    Fail,
    /// A handler goes on far past its timeout.
    Over,
    /// A run is cancelled.
    Cancel,
    /// A run that has ended is pruned.
    Prune,
    /// A worker is asked to drain.
    Drain,
    /// Somebody else has locked what an exchange would settle or claim.
    Locked,
    /// The caller of a start gives up for good.
    GiveUp,
}

pub(super) const FAULTS: usize = 13;

/// What must never happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Violation {
    /// Work that is started is listed in no hand, so that nobody will ever give it back.
    ListedNowhere,
    /// A living worker within its lease runs work that was given to somebody else.
    TakenUnderHandler,
    /// Work of a process that lives, within its lease, was recovered as that of a lost one.
    TakenFromLiving,
    /// A process was ended although its lease was not over.
    EndedInTime,
    /// A healthy process was ended in the first lease after an outage.
    EndedAfterOutage,
    /// A result was accepted for a later claim than the one that it comes from.
    ResultOfAnotherClaim,
    /// A worker was told that a result is recorded, and it is not.
    ResultDropped,
    /// Work was taken back although its result was waiting.
    ResultThrownAway,
    /// An attempt was used though nothing was lost and nothing failed.
    AttemptWithoutLoss,
    /// An attempt was used by work of a worker that has said goodbye.
    AttemptAfterGoodbye,
    /// An attempt was used by work that was lost together with other work.
    AttemptInCompany,
    /// A process holds more suspects than one of them allows.
    TooManySuspects,
    /// A process holds other work beside a suspect that must be alone.
    CompanyOfAlone,
    /// Work that kills its process has been run too often.
    PoisonRunsOn,
    /// A call that was never done is answered as if it had been.
    AnsweredUndone,
    /// There is a state from which the work cannot end any more, or a living worker can never claim again.
    Stuck,
}

/// One search.
#[derive(Debug, Clone)]
pub struct Setup {
    /// How many pieces of work there are.
    pub work: usize,
    /// Each piece is ready only when the one before it is done; else all are ready at once.
    pub is_chain: bool,
    /// How many of them, the last ones, belong to runs that are still to be started; in a chain, the first ones.
    pub starts: usize,
    /// How many workers each program has.
    pub programs: Vec<usize>,
    /// The last worker of the first program is registered only while the others are at work.
    pub joins_late: bool,
    /// The most that one exchange claims.
    pub claim_at_most: usize,
    /// At how many rows a hand is folded into one.
    pub fold_at: usize,
    /// How often each fault happens at most.
    pub faults: Vec<(Fault, u8)>,
    /// Pieces of work whose handlers kill their process. Programs that die are started again then.
    pub poison: Vec<u8>,
    /// How often one of them may run.
    pub most_kills: u8,
    /// There are no heartbeats: leases of processes that are up do not end.
    pub is_quiet: bool,
    /// The rules that are left out.
    pub without: Vec<Rule>,
    /// How many states are looked at before the search gives up.
    pub most_states: usize,
}

impl Setup {
    /// All rules; exchanges that claim two pieces at most, and hands that are folded at three rows.
    pub fn new(work: usize, programs: &[usize], faults: &[(Fault, u8)]) -> Self {
        Self {
            work,
            is_chain: false,
            starts: 0,
            programs: programs.to_vec(),
            joins_late: false,
            claim_at_most: 2,
            fold_at: 3,
            faults: faults.to_vec(),
            poison: Vec::new(),
            most_kills: 0,
            is_quiet: false,
            without: Vec::new(),
            most_states: 3_000_000,
        }
    }

    /// The same search with rules left out.
    #[must_use]
    pub fn without(mut self, rules: &[Rule]) -> Self {
        self.without.extend(rules);
        self
    }

    pub(super) fn holds(&self, rule: Rule) -> bool {
        !self.without.contains(&rule)
    }

    /// How often each fault happens at most, by its place in the enum.
    pub(super) fn budget(&self) -> [u8; FAULTS] {
        let mut budget = [0; FAULTS];
        for (fault, times) in &self.faults {
            budget[*fault as usize] = *times;
        }
        budget
    }

    /// Whether anything can happen that uses an attempt rightly.
    pub(super) fn may_use_attempts(&self) -> bool {
        use Fault::{Crash, Fail, Freeze, Late, Outage, Over};
        let uses = |fault: Fault| matches!(fault, Late | Crash | Freeze | Outage | Fail | Over);
        !self.poison.is_empty() || self.faults.iter().any(|(fault, times)| *times > 0 && uses(*fault))
    }
}
