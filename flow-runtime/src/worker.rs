//! Workers: each claims tasks of one queue, calls the handlers and settles the results; a process has one lease for all of its workers.

mod attempt;
mod batch_limits;
pub(crate) mod builder;
mod busy;
pub(crate) mod config;
mod drain;
mod exchange_loop;
pub(crate) mod hand_over;
pub(crate) mod health;
mod heartbeat;
mod held;
mod log;
mod panic;
mod patience;
mod process;
mod random_id;
mod read_position;
pub(crate) mod running;
pub(crate) mod set;
mod shared;
mod signals;
mod slots;
mod start;
mod unserved;
