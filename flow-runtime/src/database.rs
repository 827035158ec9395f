//! Connections: those of the crate's own, the pool that clients share, deadlines, and who is woken by what.

mod address;
mod backoff;
pub(crate) mod deadline;
mod hub;
mod link;
mod own;
mod shared;

pub(crate) use address::Servers;
pub(crate) use backoff::Backoff;
pub(crate) use deadline::{connection_lost, in_time};
pub(crate) use hub::{Hub, Subscription, Topic};
pub(crate) use link::{Link, Retry};
pub(crate) use own::{OwnName, Purpose, end_own, let_go_when_frozen, prepare};
pub(crate) use shared::{SharedPool, send_message};
