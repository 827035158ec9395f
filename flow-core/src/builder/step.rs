//! One step of a flow that is built at run time.

use schemars::JsonSchema;
use serde_json::Value;

use crate::{
    definition::{Mode, TypeContract},
    draft::StepDraft,
};

/// One step. Steps name themselves and each other by slug.
///
/// The methods for options with a number, such as `timeout`, come from [the list of options](crate::options).
///
/// ```
/// use flow_core::builder::StepBuilder;
/// use std::time::Duration;
///
/// let step = StepBuilder::map("pick", "reserve").max_attempts(5).timeout(Duration::from_secs(30));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a step is added with `FlowBuilder::step`"]
pub struct StepBuilder {
    pub(crate) draft: StepDraft,
}

impl StepBuilder {
    /// A step of one task, whose output may be anything.
    pub fn single(slug: impl Into<String>) -> Self {
        Self { draft: StepDraft::single(slug) }
    }

    /// A step of one task for each element of `source`, which is `input` or the slug of a step.
    pub fn map(slug: impl Into<String>, source: impl Into<String>) -> Self {
        Self { draft: StepDraft::map(slug, source) }
    }

    /// Makes the step take the outputs of these steps.
    pub fn needs<S: Into<String>>(mut self, steps: impl IntoIterator<Item = S>) -> Self {
        self.draft.needs.extend(steps.into_iter().map(Into::into));
        self
    }

    /// Makes the step wait for these steps without taking their outputs.
    pub fn after<S: Into<String>>(mut self, steps: impl IntoIterator<Item = S>) -> Self {
        self.draft.after.extend(steps.into_iter().map(Into::into));
        self
    }

    /// Makes the step run only when its subject contains `pattern`. The subject is the run's input for a step without
    /// dependencies, else an object of the dependencies' outputs.
    pub fn run_if(mut self, pattern: Value) -> Self {
        self.draft.run_if = Some(pattern);
        self
    }

    /// Makes the step run only when its subject does not contain `pattern`.
    pub fn run_unless(mut self, pattern: Value) -> Self {
        self.draft.run_unless = Some(pattern);
        self
    }

    /// Sets what an unmet condition does. Default: `skip`.
    pub fn when_unmet(mut self, mode: Mode) -> Self {
        self.draft.when_unmet = Some(mode);
        self
    }

    /// Sets what happens when no attempt is left. Default: `fail`.
    pub fn when_exhausted(mut self, mode: Mode) -> Self {
        self.draft.when_exhausted = Some(mode);
        self
    }

    /// Sets the queue of this step, in a flow whose queue mode is `routed`.
    pub fn queue(mut self, name: impl Into<String>) -> Self {
        self.draft.queue = Some(name.into());
        self
    }

    /// Declares that the output is of type `T`; for a map, the output of one element.
    pub fn output<T: JsonSchema>(mut self) -> Self {
        self.draft.output = TypeContract::of::<T>();
        self
    }

    /// Declares that the output has this JSON Schema; for a map, the output of one element.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.draft.output = TypeContract::from_schema(schema);
        self
    }

    /// Sets a text for people, which graphs and tools show.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.draft.note = Some(note.into());
        self
    }

    pub(super) fn into_draft(self) -> StepDraft {
        self.draft
    }
}
