//! A model of the lease protocol: how processes hold, lose and give back work, searched breadth first through every order in which calls,
//! replies and faults can come. Its actions carry the names of the SQL functions; each rule of the protocol can be left out, to see
//! what the rule is for. Decision 10 in `docs/decisions` tells the rules.

mod check;
mod client;
mod environment;
mod exchange;
mod heartbeat;
mod number;
mod process;
mod rule;
mod search;
mod start;
mod step;
mod suspect;
mod world;

pub use rule::{Fault, Rule, Setup, Violation};
pub use search::{Found, Outcome, search};
