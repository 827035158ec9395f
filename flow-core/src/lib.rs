//! Pure types of `flow`: definitions, slugs, queue names, graph rules, statuses, retry schedule and errors.
//!
//! Nothing here waits, reads a clock or touches the outside; `flow-macros` takes its rules from here (without the
//! feature `definition`), `flow-runtime` builds on all of it.

#[cfg(feature = "definition")]
pub mod definition;
#[cfg(feature = "definition")]
pub mod error;
#[cfg(feature = "definition")]
pub mod flow;
#[cfg(feature = "definition")]
pub mod step;
