//! A database a test, and waiting for what must come true.

mod by_hand;
mod database;
mod engine;
mod eventually;
mod graph;
mod hand;
mod hand_start;
mod log;
mod plans;
mod pooler;
mod process;
mod proxy;
mod server;
mod standby;

pub use by_hand::complete_each;
pub use database::{TestDb, TestRole};
pub use engine::Engine;
pub use eventually::eventually;
pub use graph::Graph;
pub use hand::{Claim, Hand, Reply, Settle};
pub use hand_start::{StartByHand, Started};
pub use log::{Log, LogGuard};
pub use plans::{PlanWatch, Plans};
pub use pooler::Pooler;
pub use process::Process;
pub use proxy::Proxy;
pub use server::Server;
pub use standby::{Standby, make_synchronous};
