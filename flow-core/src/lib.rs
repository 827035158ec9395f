//! Pure types of `flow`: definitions, slugs, queue names, graph rules, statuses, retry schedule and errors.
//!
//! No code here waits, reads a clock or does I/O. `flow-macros` takes its rules from this crate (without the feature
//! `definition`); `flow-runtime` builds on all of it.

#![warn(missing_debug_implementations)]

pub mod duration;
pub mod list;
pub mod mode;
pub mod near;
pub mod options;
pub mod order;
pub mod queue_name;
pub mod retry;
pub mod skippable;
pub mod slug;
pub mod status;

#[cfg(feature = "definition")]
pub mod builder;
#[cfg(feature = "definition")]
pub mod compatibility;
#[cfg(feature = "definition")]
mod contract;
#[cfg(feature = "definition")]
pub mod definition;
#[cfg(feature = "definition")]
pub mod draft;
#[cfg(feature = "definition")]
pub mod error;
#[cfg(feature = "definition")]
pub mod flow;
#[cfg(feature = "definition")]
#[doc(hidden)]
pub mod generated;
#[cfg(feature = "definition")]
pub mod graph;
#[cfg(feature = "definition")]
pub mod step;
#[cfg(feature = "definition")]
pub mod validate;
#[cfg(feature = "definition")]
pub mod value;
