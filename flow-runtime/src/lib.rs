//! Typed workflows on nothing but Postgres.

mod args;
mod context;
mod handlers;
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use args::StepArgs;
pub use context::StepContext;
pub use flow_core::{
    definition,
    error::{FailureAction, StepError},
    flow::Flow,
    step::{StepEnum, StepKey},
};
pub use handlers::{Handlers, StepCall, StepResult};

/// What most programs need.
pub mod prelude {
    pub use crate::{Flow, StepContext, StepError, StepKey};
}
