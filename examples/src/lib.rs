//! What the examples do apart from running a flow: the work itself, as plain functions with tests.

pub mod lockfile_audit;
pub mod progress;
pub mod wfformat;
