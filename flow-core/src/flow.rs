//! The trait that `#[flow]` implements: what is known of a flow without its handlers.

use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};

use crate::{definition::FlowDefinition, step::StepEnum};

/// A flow as the compiler knows it: its types, its slug and its definition. Implemented by `#[flow]`.
pub trait Flow: Send + Sync + 'static {
    /// The run's input.
    type Input: Serialize + DeserializeOwned + Send + 'static;
    /// The outputs of the leaf steps, one field each.
    type Output: DeserializeOwned + Send + 'static;
    /// The steps, in step order.
    type Step: StepEnum;
    /// The slug under which the database knows this flow.
    const SLUG: &'static str;

    /// The ordered structural definition that a worker sends to the database.
    fn definition() -> FlowDefinition;
}

impl<F: Flow> Flow for Arc<F> {
    type Input = F::Input;
    type Output = F::Output;
    type Step = F::Step;
    const SLUG: &'static str = F::SLUG;

    fn definition() -> FlowDefinition {
        F::definition()
    }
}
