//! The names of those who are measured.

use crate::bench::Case;

/// One peer, or one way to use it.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PeerName {
    Flow,
    /// With a worker for each of two cores.
    FlowTwo,
    /// Workflows that run in the process that starts them.
    Dbos,
    /// Workflows that a worker takes from a queue.
    DbosQueue,
    Apalis,
    Graphile,
    River,
    Awa,
    Underway,
}

impl PeerName {
    /// All, in the order of the report.
    pub(crate) const ALL: [PeerName; 9] = [
        PeerName::Flow,
        PeerName::FlowTwo,
        PeerName::Dbos,
        PeerName::DbosQueue,
        PeerName::Apalis,
        PeerName::Graphile,
        PeerName::River,
        PeerName::Awa,
        PeerName::Underway,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            PeerName::Flow => "flow",
            PeerName::FlowTwo => "flow-two",
            PeerName::Dbos => "dbos",
            PeerName::DbosQueue => "dbos-queue",
            PeerName::Apalis => "apalis",
            PeerName::Graphile => "graphile",
            PeerName::River => "river",
            PeerName::Awa => "awa",
            PeerName::Underway => "underway",
        }
    }

    /// Whether it has a way to do the case: four are job queues, without a join.
    pub(crate) fn has(self, case: Case) -> bool {
        case != Case::Map || !matches!(self, PeerName::Graphile | PeerName::River | PeerName::Awa | PeerName::Underway)
    }
}
