//! What generated code may name. Not part of the public interface: it changes with the macros.

pub use crate::{
    args::{StepArgs, encode_output},
    context::StepContext,
    handlers::{Handlers, StepCall, StepResult},
};
pub use flow_core::{definition::*, error::StepError, flow::Flow, step::*};
pub use schemars;
pub use serde;
pub use serde_json;
