//! The test bench for outages: a load of worker and client processes that keep what they did in local files, and the judgement of
//! those files against the database that is left.

mod disk;
mod flow;
mod journal;
mod judge;
mod load;

pub use disk::SmallDisk;
pub use flow::{Echo, Journaled};
pub use journal::Journal;
pub use judge::Figures;
pub use load::{Load, Plan};
