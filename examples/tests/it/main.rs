//! The examples' flows on a running Postgres, without running them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails, also in a function it calls")]

mod shapes;

#[path = "../../lockfile_audit.rs"]
#[allow(dead_code, reason = "only its flow is of interest")]
mod lockfile_audit;
#[path = "../../step_queues.rs"]
#[allow(dead_code, reason = "only its flow is of interest")]
mod step_queues;
