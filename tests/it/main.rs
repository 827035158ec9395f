//! Behaviour on a running Postgres, a module a subject.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails, also in a function it calls")]

mod embedded;
mod support;
