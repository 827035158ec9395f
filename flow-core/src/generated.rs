//! The JSON text in which generated code describes a flow, and how the text becomes a definition.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    definition::{FlowDefinition, FlowOptions, Mode, QueueMode, StepKind, StepOptions, TypeContract},
    draft::{FlowDraft, StepDraft},
};

/// A flow in the JSON that the macro writes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowSpec {
    slug: String,
    #[serde(default)]
    options: FlowOptions,
    note: Option<String>,
    /// The steps, in order of declaration.
    steps: Vec<StepSpec>,
}

/// A step in the JSON that the macro writes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepSpec {
    slug: String,
    /// A map's source; `None` in a single step.
    over: Option<String>,
    /// Slugs of data dependencies.
    #[serde(default)]
    needs: Vec<String>,
    /// Slugs of order-only dependencies.
    #[serde(default)]
    after: Vec<String>,
    /// JSON `null` is a condition too, so `null` becomes `Some(Value::Null)`.
    #[serde(default, deserialize_with = "present")]
    run_if: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    run_unless: Option<Value>,
    when_unmet: Option<Mode>,
    when_exhausted: Option<Mode>,
    #[serde(default)]
    options: StepOptions,
    note: Option<String>,
}

/// Reads a field that is present as `Some`, also when its value is `null`.
fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// Builds the definition of a flow that the macro has checked: `spec` is the macro's JSON; `input` and `outputs` make
/// the contracts of the run's input and of each step's output, in order of declaration.
///
/// # Panics
///
/// When the definition has a mistake that the macro should have reported.
pub fn define(spec: &str, input: fn() -> TypeContract, outputs: &[fn() -> TypeContract]) -> FlowDefinition {
    let flow: FlowSpec = match serde_json::from_str(spec) {
        Ok(flow) => flow,
        Err(error) => panic!("the macro wrote a flow that is no JSON, which is a bug of flow: {error}"),
    };
    let draft = FlowDraft {
        slug: flow.slug,
        queue_mode: QueueMode::Plain,
        options: flow.options,
        input: input(),
        note: flow.note,
        steps: flow.steps.into_iter().zip(outputs).map(|(step, output)| draft_step(step, output())).collect(),
    };
    match draft.assemble() {
        Ok(definition) => definition,
        Err(errors) => panic!("the macro accepted what the rules refuse, which is a bug of flow: {errors}"),
    }
}

fn draft_step(step: StepSpec, output: TypeContract) -> StepDraft {
    StepDraft {
        slug: step.slug,
        kind: if step.over.is_some() { StepKind::Map } else { StepKind::Single },
        over: step.over,
        needs: step.needs,
        after: step.after,
        run_if: step.run_if,
        run_unless: step.run_unless,
        when_unmet: step.when_unmet,
        when_exhausted: step.when_exhausted,
        options: step.options,
        queue: None,
        output,
        note: step.note,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_macro_writes_becomes_the_definition() {
        let spec = r#"{"slug": "shop", "steps": [
            {"slug": "guarded", "needs": ["each"], "after": ["first"], "run_if": {"each": [1]}, "run_unless": {"first": null},
             "when_unmet": "fail", "when_exhausted": "skip", "note": "Guarded.",
             "options": {"max_attempts": 1, "base_delay_ms": 2, "max_delay_ms": 3, "timeout_ms": 4, "start_delay_ms": 5, "priority": 6}},
            {"slug": "each", "over": "input"},
            {"slug": "first"}]}"#;
        let any: fn() -> TypeContract = TypeContract::any;
        let definition = define(spec, any, &[any; 3]);
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
        assert_eq!((own.timeout_ms, own.start_delay_ms, own.priority), (Some(4), Some(5), Some(6)));
        assert_eq!(definition.notes.steps, [None, None, Some("Guarded.".to_owned())]);
        assert_eq!(definition.shape.steps[0].kind, StepKind::Map);
    }
}
