//! Flows whose graph is known only at run time: the same definition that `#[flow]` writes, made by calls.

mod step;

use schemars::JsonSchema;
use serde_json::Value;

use crate::{
    definition::{FlowDefinition, QueueMode, TypeContract},
    draft::FlowDraft,
    validate::DefinitionErrors,
};

pub use step::StepBuilder;

/// Builds a definition step by step; steps may name each other in any order.
///
/// The methods for options with a number, such as `max_attempts`, come from [the list of options](crate::options).
///
/// ```
/// # use flow_core::builder::{FlowBuilder, StepBuilder};
/// let definition = FlowBuilder::new("fulfil_order")
///     .max_attempts(5)
///     .step(StepBuilder::single("reserve"))
///     .step(StepBuilder::map("pick", "reserve"))
///     .step(StepBuilder::single("ship").needs(["pick"]))
///     .build()?;
/// assert_eq!(definition.shape.steps.len(), 3);
/// # Ok::<(), flow_core::validate::DefinitionErrors>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "nothing is checked before `build`"]
pub struct FlowBuilder {
    pub(crate) draft: FlowDraft,
}

impl FlowBuilder {
    /// A flow without steps, with default options and an input that may be anything.
    pub fn new(slug: impl Into<String>) -> Self {
        Self { draft: FlowDraft::new(slug) }
    }

    /// Adds a step.
    pub fn step(mut self, step: StepBuilder) -> Self {
        self.draft.steps.push(step.into_draft());
        self
    }

    /// Adds steps.
    pub fn steps(mut self, steps: impl IntoIterator<Item = StepBuilder>) -> Self {
        self.draft.steps.extend(steps.into_iter().map(StepBuilder::into_draft));
        self
    }

    /// Declares that the run's input is of type `T`.
    pub fn input<T: JsonSchema>(mut self) -> Self {
        self.draft.input = TypeContract::of::<T>();
        self
    }

    /// Declares that the run's input has this JSON Schema.
    pub fn input_schema(mut self, schema: Value) -> Self {
        self.draft.input = TypeContract::from_schema(schema);
        self
    }

    /// Sets the queues of the steps. Default: all steps on one queue, which is named like the flow.
    pub fn queue_mode(mut self, mode: QueueMode) -> Self {
        self.draft.queue_mode = mode;
        self
    }

    /// Sets a text for people, which graphs and tools show.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.draft.note = Some(note.into());
        self
    }

    /// Puts the steps into step order and checks every rule, also the conditions against the schemas of what they test.
    ///
    /// # Errors
    /// Every mistake of the flow, at once.
    pub fn build(self) -> Result<FlowDefinition, DefinitionErrors> {
        let definition = self.draft.assemble()?;
        definition.check()?;
        Ok(definition)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn lengths_are_whole_milliseconds_of_flow_and_step() {
        let ms = Duration::from_millis;
        let step = StepBuilder::single("a").base_delay(ms(5)).max_delay(ms(6)).timeout(ms(7)).start_delay(ms(8));
        let flow = FlowBuilder::new("shop").base_delay(ms(2_500)).max_delay(ms(3_000)).timeout(ms(4));
        let options = flow.step(step).build().expect("legal").options;
        assert_eq!((options.base_delay_ms, options.max_delay_ms, options.timeout_ms), (2_500, 3_000, 4));
        let own = &options.steps[0];
        assert_eq!((own.base_delay_ms, own.max_delay_ms, own.timeout_ms), (Some(5), Some(6), Some(7)));
        assert_eq!(own.start_delay_ms, Some(8));
        let error = FlowBuilder::new("shop").timeout(Duration::MAX).step(StepBuilder::single("a")).build();
        assert!(error.is_err(), "what is too long stays too long");
    }
}
