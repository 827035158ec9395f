//! What the behaviour tests share.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails, also in what it calls")]

pub mod flows;
pub mod lease;
pub mod model;
pub mod outage;
pub mod support;
