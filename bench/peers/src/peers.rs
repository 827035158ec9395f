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

use crate::{OneArgs, measure::measure as measure_as, peer_name::PeerName, report::Report};

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
