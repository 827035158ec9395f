//! Who is measured.

mod apalis;
mod awa;
mod dbos;
mod dbos_queue;
mod flow;
mod graphile;
mod river;
mod underway;

use std::time::Duration;

use crate::{OneArgs, bench::Case, measure::measure as measure_as, report::Report};

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

/// Measures one case of one peer in this process.
pub(crate) async fn measure(args: &OneArgs) -> anyhow::Result<Report> {
    let OneArgs { url, peer, case, size, limit_s } = args;
    anyhow::ensure!(peer.has(*case), "{} has no {}", peer.name(), case.name());
    let (name, case, size, limit) = (peer.name(), *case, *size, Duration::from_secs(*limit_s));
    match peer {
        PeerName::Flow => measure_as::<flow::FlowPeer<1>>(name, url, case, size, limit).await,
        PeerName::FlowTwo => measure_as::<flow::FlowPeer<2>>(name, url, case, size, limit).await,
        PeerName::Dbos => measure_as::<dbos::DbosPeer>(name, url, case, size, limit).await,
        PeerName::DbosQueue => measure_as::<dbos_queue::DbosQueuePeer>(name, url, case, size, limit).await,
        PeerName::Apalis => measure_as::<apalis::ApalisPeer>(name, url, case, size, limit).await,
        PeerName::Graphile => measure_as::<graphile::GraphilePeer>(name, url, case, size, limit).await,
        PeerName::River => measure_as::<river::RiverPeer>(name, url, case, size, limit).await,
        PeerName::Awa => measure_as::<awa::AwaPeer>(name, url, case, size, limit).await,
        PeerName::Underway => measure_as::<underway::UnderwayPeer>(name, url, case, size, limit).await,
    }
}
