//! Checks that conditions fit their subject, and that a mode for an unmet condition stands with a condition.

use serde_json::Value;

use super::DefinitionError;
use crate::{
    definition::{FlowShape, StepShape},
    near::near_miss,
};

pub(super) fn check(shape: &FlowShape, mistakes: &mut Vec<DefinitionError>) {
    for step in &shape.steps {
        let has_condition = step.run_if.is_some() || step.run_unless.is_some();
        match (has_condition, step.when_unmet) {
            (false, Some(_)) => {
                mistakes.push(DefinitionError::UnmetWithoutCondition { step: step.slug.clone() });
            }
            (true, None) => mistakes.push(DefinitionError::ConditionWithoutUnmet { step: step.slug.clone() }),
            _ => {}
        }
        check_text(step, "run_if", step.run_if.as_ref(), mistakes);
        check_text(step, "run_unless", step.run_unless.as_ref(), mistakes);
        let is_root = step.dependencies().next().is_none();
        if !is_root {
            check_keys(step, "run_if", step.run_if.as_ref(), mistakes);
            check_keys(step, "run_unless", step.run_unless.as_ref(), mistakes);
        }
    }
}

fn check_text(step: &StepShape, option: &'static str, pattern: Option<&Value>, mistakes: &mut Vec<DefinitionError>) {
    if pattern.is_some_and(holds_nul) {
        mistakes.push(DefinitionError::ConditionNul { step: step.slug.clone(), option });
    }
}

fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(holds_nul),
        Value::Object(fields) => fields.iter().any(|(key, value)| key.contains('\0') || holds_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Checks that the condition of a step with dependencies is an object whose keys are dependencies, as its subject is.
fn check_keys(step: &StepShape, option: &'static str, pattern: Option<&Value>, mistakes: &mut Vec<DefinitionError>) {
    let Some(pattern) = pattern else { return };
    let Value::Object(fields) = pattern else {
        mistakes.push(DefinitionError::ConditionNotObject { step: step.slug.clone(), option });
        return;
    };
    for key in fields.keys().filter(|key| step.dependencies().all(|(_, slug)| slug != **key)) {
        let near = near_miss(key, step.dependencies().map(|(_, slug)| slug)).map(str::to_owned);
        mistakes.push(DefinitionError::ConditionKey { step: step.slug.clone(), option, key: key.clone(), near });
    }
}
