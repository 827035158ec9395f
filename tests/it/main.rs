//! Behaviour on a running Postgres, a module a subject.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails, also in a function it calls")]

mod builds;
mod cancel;
mod claim;
mod client;
mod concurrency;
mod condition;
mod crash;
mod created;
mod definition;
mod deploy;
mod drift;
mod embedded;
mod evolving;
mod failure;
mod growth;
mod handlers;
mod interface;
mod invariants;
mod lease;
mod log;
mod map;
mod migrate;
mod model;
mod options;
mod outcomes;
mod plan;
mod pooler;
mod process;
mod queue;
mod recreate;
mod rollout;
mod round_trips;
mod scale;
mod settings;
mod settle;
mod shapes;
mod start;
mod states;
mod support;
mod tidy;
mod values;
mod worker;
mod worker_set;
