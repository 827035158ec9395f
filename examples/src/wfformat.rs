//! The work of the example `wfformat`: reading a workflow file, naming its tasks as steps, and running it.

mod file;
mod names;
mod run;

pub use file::{Task, Workflow};
pub use names::step_slugs;
pub use run::{Ran, build, run};
