//! Connections of the crate's own, beside the pool that clients share.

mod link;
mod own;

pub(crate) use link::{Link, connection_lost, in_time};
pub(crate) use own::{OwnName, end_own, open, prepare, shares_processes};
