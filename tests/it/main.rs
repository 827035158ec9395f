//! Behaviour on a running Postgres, a module a subject.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails, also in a function it calls")]

mod claim;
mod client;
mod embedded;
mod condition;
mod failure;
mod lease;
mod map;
mod migrate;
mod process;
mod settle;
mod start;
mod support;
mod tidy;
mod worker;
mod worker_set;
