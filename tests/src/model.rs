//! The engine's state machine a second time, small and in plain Rust, and random histories that both must agree on.
//!
//! [`Machine`] knows the rules and no database; [`Driver`] plays a [`History`] on it and on the engine side by side.

mod contain;
mod driver;
mod flow;
mod history;
mod machine;
mod settle;
mod suspect;

pub use driver::Driver;
pub use flow::{Flow, Mode, ModelSource, Step, any_flow};
pub use history::{End, History, Op, any_history};
pub use machine::{Machine, Run, StepState, Task};
