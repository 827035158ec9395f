//! Random histories: what workers, time and people do to the runs of a flow.

use proptest::{collection::vec, prelude::*};

use super::flow::{Flow, any_flow};

/// How a test ends an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With one of a few outputs.
    Complete(usize),
    /// With an error that is retried at once.
    Error,
    /// With an error that is retried later.
    ErrorLater,
    /// With an error for good.
    Permanent,
    /// Given up, as a task without attempts left.
    LeaseExpired,
}

/// One thing that happens. Numbers pick among what is there at that moment.
#[derive(Debug, Clone)]
pub enum Op {
    /// A run starts with one of a few inputs.
    Start(usize),
    /// A worker claims.
    Claim {
        /// Which worker.
        worker: usize,
        /// How many at most.
        limit: i32,
    },
    /// A worker settles what it or somebody else once claimed, counted back from the newest claim, and claims.
    Settle {
        /// Which claims, and how they end.
        picks: Vec<(usize, End)>,
        /// Who settles, if not whoever claimed the first of them.
        by: Option<usize>,
        /// How many to claim at most.
        limit: i32,
    },
    /// Every lease ends and every message becomes visible.
    PassTime,
    /// A worker gives claims back, drains and is replaced.
    Release(Vec<usize>),
    /// A worker has lost a reply; it holds every other claim of its own.
    Resume {
        /// Which worker.
        worker: usize,
        /// How many to claim at most when nothing was lost.
        limit: i32,
    },
    /// Somebody cancels a run.
    Cancel(usize),
    /// Somebody retries a run.
    Retry(usize),
}

/// A flow and what happens to its runs.
#[derive(Debug, Clone)]
pub struct History {
    /// The flow.
    pub flow: Flow,
    /// What happens, in order.
    pub ops: Vec<Op>,
}

fn any_end() -> impl Strategy<Value = End> {
    prop_oneof![
        8 => (0_usize..8).prop_map(End::Complete),
        2 => Just(End::Error),
        1 => Just(End::ErrorLater),
        1 => Just(End::Permanent),
        1 => Just(End::LeaseExpired),
    ]
}

fn any_op() -> impl Strategy<Value = Op> {
    let by = proptest::option::weighted(0.1, 0_usize..20);
    prop_oneof![
        2 => (0_usize..5).prop_map(Op::Start),
        6 => (0_usize..20, 1..8).prop_map(|(worker, limit)| Op::Claim { worker, limit }),
        10 => (vec((0_usize..12, any_end()), 1..6), by, 0..4).prop_map(|(picks, by, limit)| Op::Settle { picks, by, limit }),
        3 => Just(Op::PassTime),
        1 => vec(0_usize..8, 1..4).prop_map(Op::Release),
        1 => (0_usize..20, 0..4).prop_map(|(worker, limit)| Op::Resume { worker, limit }),
        1 => (0_usize..6).prop_map(Op::Cancel),
        1 => (0_usize..6).prop_map(Op::Retry),
    ]
}

/// Any history; it begins with a run, so that there is something to do.
pub fn any_history() -> impl Strategy<Value = History> {
    (any_flow(), 0_usize..5, vec(any_op(), 1..40)).prop_map(|(flow, input, mut ops)| {
        ops.insert(0, Op::Start(input));
        History { flow, ops }
    })
}
