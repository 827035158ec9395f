//! What generated code says of a flow, as constants, and how that becomes a definition.

use serde_json::Value;

pub use crate::definition::{Mode, QueueMode};
use crate::{
    definition::{FlowDefinition, FlowOptions, StepKind, StepOptions, TypeContract},
    draft::{FlowDraft, StepDraft},
};

/// A flow, as the macro writes it down.
#[derive(Debug, Clone, Copy)]
pub struct FlowSpec<'a> {
    /// The flow's slug.
    pub slug: &'static str,
    /// Attempts, delays and timeout, where given.
    pub numbers: Numbers,
    /// Makes the contract of the input.
    pub input: fn() -> TypeContract,
    /// The doc comment.
    pub note: Option<&'static str>,
    /// The steps, as declared.
    pub steps: &'a [StepSpec],
}

/// A step, as the macro writes it down.
#[derive(Debug, Clone, Copy)]
pub struct StepSpec {
    /// The step's slug.
    pub slug: &'static str,
    /// A map's source; `None` in a single step.
    pub over: Option<&'static str>,
    /// Slugs of data dependencies.
    pub needs: &'static [&'static str],
    /// Slugs of order-only dependencies.
    pub after: &'static [&'static str],
    /// A condition, as JSON text.
    pub run_if: Option<&'static str>,
    /// A condition, as JSON text.
    pub run_unless: Option<&'static str>,
    /// The mode, where given.
    pub when_unmet: Option<Mode>,
    /// The mode, where given.
    pub when_exhausted: Option<Mode>,
    /// Attempts, delays and timeout, where given.
    pub numbers: Numbers,
    /// Makes the contract of the handler's output.
    pub output: fn() -> TypeContract,
    /// The doc comment.
    pub note: Option<&'static str>,
}

/// Options with a number, where given; lengths of time in milliseconds.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "named like the options")]
pub struct Numbers {
    pub max_attempts: Option<u32>,
    pub base_delay: Option<u64>,
    pub max_delay: Option<u64>,
    pub timeout: Option<u64>,
    pub start_delay: Option<u64>,
}

impl Numbers {
    /// No option given.
    pub const NONE: Self =
        Self { max_attempts: None, base_delay: None, max_delay: None, timeout: None, start_delay: None };
}

impl StepSpec {
    /// A step with nothing but a slug.
    pub const fn new(slug: &'static str, output: fn() -> TypeContract) -> Self {
        Self {
            slug,
            over: None,
            needs: &[],
            after: &[],
            run_if: None,
            run_unless: None,
            when_unmet: None,
            when_exhausted: None,
            numbers: Numbers::NONE,
            output,
            note: None,
        }
    }
}

/// The definition of a flow that the macro has checked.
///
/// # Panics
/// When the macro let a mistake pass.
pub fn define(flow: &FlowSpec<'_>) -> FlowDefinition {
    let defaults = FlowOptions::default();
    let draft = FlowDraft {
        slug: flow.slug.to_owned(),
        queue_mode: QueueMode::Plain,
        options: FlowOptions {
            max_attempts: flow.numbers.max_attempts.unwrap_or(defaults.max_attempts),
            base_delay_ms: flow.numbers.base_delay.unwrap_or(defaults.base_delay_ms),
            max_delay_ms: flow.numbers.max_delay.unwrap_or(defaults.max_delay_ms),
            timeout_ms: flow.numbers.timeout.unwrap_or(defaults.timeout_ms),
            steps: Vec::new(),
        },
        input: (flow.input)(),
        note: flow.note.map(str::to_owned),
        steps: flow.steps.iter().map(draft_step).collect(),
    };
    match draft.assemble() {
        Ok(definition) => definition,
        Err(errors) => panic!("the macro accepted what the rules refuse, which is a bug of flow: {errors}"),
    }
}

fn draft_step(step: &StepSpec) -> StepDraft {
    let owned = |slugs: &[&str]| slugs.iter().map(|slug| (*slug).to_owned()).collect();
    StepDraft {
        slug: step.slug.to_owned(),
        kind: if step.over.is_some() { StepKind::Map } else { StepKind::Single },
        over: step.over.map(str::to_owned),
        needs: owned(step.needs),
        after: owned(step.after),
        run_if: step.run_if.map(condition),
        run_unless: step.run_unless.map(condition),
        when_unmet: step.when_unmet,
        when_exhausted: step.when_exhausted,
        options: StepOptions {
            max_attempts: step.numbers.max_attempts,
            base_delay_ms: step.numbers.base_delay,
            max_delay_ms: step.numbers.max_delay,
            timeout_ms: step.numbers.timeout,
            start_delay_ms: step.numbers.start_delay,
        },
        queue: None,
        output: (step.output)(),
        note: step.note.map(str::to_owned),
    }
}

/// The condition that the macro wrote as JSON text.
fn condition(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => panic!("the macro wrote a condition that is no JSON, which is a bug of flow: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn step(slug: &'static str) -> StepSpec {
        StepSpec::new(slug, TypeContract::any)
    }

    #[test]
    fn what_the_macro_writes_becomes_the_definition() {
        let numbers = Numbers { max_attempts: Some(1), base_delay: Some(2), max_delay: Some(3), ..Numbers::NONE };
        let numbers = Numbers { timeout: Some(4), start_delay: Some(5), ..numbers };
        let guarded = StepSpec {
            needs: &["each"],
            after: &["first"],
            run_if: Some(r#"{"each":[1]}"#),
            run_unless: Some(r#"{"first":null}"#),
            when_unmet: Some(Mode::Fail),
            when_exhausted: Some(Mode::Skip),
            numbers,
            note: Some("Guarded."),
            ..step("guarded")
        };
        let steps = [guarded, StepSpec { over: Some("input"), ..step("each") }, step("first")];
        let flow =
            FlowSpec { slug: "shop", numbers: Numbers::NONE, input: TypeContract::any, note: None, steps: &steps };
        let definition = define(&flow);
        let step = &definition.shape.steps[2];
        assert_eq!(
            (step.slug.as_str(), &*step.needs, &*step.after),
            ("guarded", &["each".to_owned()][..], &["first".to_owned()][..])
        );
        assert_eq!(step.run_if, Some(serde_json::json!({"each": [1]})));
        assert_eq!(step.run_unless, Some(serde_json::json!({"first": null})));
        assert_eq!((step.when_unmet, step.when_exhausted), (Some(Mode::Fail), Mode::Skip));
        let own = &definition.options.steps[2];
        assert_eq!((own.max_attempts, own.base_delay_ms, own.max_delay_ms), (Some(1), Some(2), Some(3)));
        assert_eq!((own.timeout_ms, own.start_delay_ms), (Some(4), Some(5)));
        assert_eq!(definition.notes.steps, [None, None, Some("Guarded.".to_owned())]);
        assert_eq!(definition.shape.steps[0].kind, StepKind::Map);
    }
}
