//! Checks that the types of a condition's subject can meet the condition, as far as their JSON Schemas tell.

mod document;

use document::{Field, Schema};
use serde_json::{Value, json};

use super::DefinitionError;
use crate::{
    definition::{FlowDefinition, StepKind, StepShape},
    near::near_miss,
};

pub(super) fn check(definition: &FlowDefinition, mistakes: &mut Vec<DefinitionError>) {
    for step in &definition.shape.steps {
        for (option, pattern) in [("run_if", &step.run_if), ("run_unless", &step.run_unless)] {
            if let Some(pattern) = pattern
                && let Err(mismatch) = check_condition(definition, step, pattern)
            {
                let Mismatch { path, reason } = mismatch;
                mistakes.push(DefinitionError::ConditionType { step: step.slug.clone(), option, path, reason });
            }
        }
    }
}

/// Where and why a pattern can never be contained in a subject.
struct Mismatch {
    path: String,
    reason: String,
}

fn check_condition(definition: &FlowDefinition, step: &StepShape, pattern: &Value) -> Result<(), Mismatch> {
    if step.dependencies().next().is_none() {
        return check_top(Schema::root(&definition.contract.input.schema), pattern);
    }
    // `FlowDefinition::validate` has checked that every key is a dependency.
    let fields = pattern.as_object().into_iter().flatten();
    fields.into_iter().try_for_each(|(slug, pattern)| check_dependency(definition, slug, pattern))
}

fn check_dependency(definition: &FlowDefinition, slug: &str, pattern: &Value) -> Result<(), Mismatch> {
    let steps = definition.shape.steps.iter().zip(&definition.contract.outputs);
    let Some((dependency, contract)) = steps.into_iter().find(|(step, _)| step.slug == slug) else { return Ok(()) };
    let schema = Schema::root(&contract.schema);
    match dependency.kind {
        StepKind::Single => contained(schema, pattern, slug),
        StepKind::Map => match pattern {
            Value::Array(items) => contained_items(&[schema], items, slug),
            other => Err(Mismatch { path: slug.to_owned(), reason: wrong_type(other, "array") }),
        },
    }
}

/// At the top level of a subject, a list also contains a scalar that is one of its elements: `["a", "b"]` contains `"a"`.
fn check_top(schema: Schema<'_>, pattern: &Value) -> Result<(), Mismatch> {
    let found = contained(schema, pattern, "");
    if found.is_err() && !pattern.is_array() && !pattern.is_object() {
        let items = schema.items();
        if !items.is_empty() {
            return contained_in_any(&items, pattern, "");
        }
    }
    found
}

/// Checks that some value of `schema` can contain `pattern`.
fn contained(schema: Schema<'_>, pattern: &Value, path: &str) -> Result<(), Mismatch> {
    let fail = |reason| Err(Mismatch { path: if path.is_empty() { "the input" } else { path }.to_owned(), reason });
    let types = schema.types();
    if !types.is_empty() && !types.iter().any(|name| is_of_type(pattern, name)) {
        return fail(wrong_type(pattern, &types.join(" or ")));
    }
    match pattern {
        Value::Object(fields) => fields.iter().try_for_each(|(key, pattern)| {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            contained_field(schema, key, pattern, path)
        }),
        Value::Array(items) => contained_items(&schema.items(), items, path),
        scalar => match schema.values() {
            Some(values) if !values.iter().any(|value| equal(value, scalar)) => {
                let known: Vec<String> = values.iter().map(ToString::to_string).collect();
                fail(format!("{scalar} is none of the values of this type: {}", known.join(", ")))
            }
            _ => Ok(()),
        },
    }
}

fn contained_field(schema: Schema<'_>, key: &str, pattern: &Value, path: String) -> Result<(), Mismatch> {
    match schema.field(key) {
        Field::Free => Ok(()),
        Field::Known(schemas) => contained_in_any(&schemas, pattern, &path),
        Field::Unknown => {
            let known = schema.keys();
            let hint = near_miss(key, known.iter().copied()).map_or_else(
                || format!("; it has {}", known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")),
                |near| format!("; did you mean `{near}`?"),
            );
            Err(Mismatch { path, reason: format!("the type has no field `{key}`{hint}") })
        }
    }
}

fn contained_items(schemas: &[Schema<'_>], items: &[Value], path: &str) -> Result<(), Mismatch> {
    if schemas.is_empty() {
        return Ok(());
    }
    let place = |index| format!("{path}[{index}]");
    items.iter().enumerate().try_for_each(|(index, item)| contained_in_any(schemas, item, &place(index)))
}

/// Checks that one of several alternatives can contain the pattern; when none can, returns the mismatch that lies deepest.
fn contained_in_any(schemas: &[Schema<'_>], pattern: &Value, path: &str) -> Result<(), Mismatch> {
    let mut deepest: Option<Mismatch> = None;
    for schema in schemas {
        match contained(*schema, pattern, path) {
            Ok(()) => return Ok(()),
            Err(found) if deepest.as_ref().is_none_or(|known| known.path.len() < found.path.len()) => {
                deepest = Some(found);
            }
            Err(_) => {}
        }
    }
    deepest.map_or(Ok(()), Err)
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match (value, name) {
        (Value::Number(number), "integer") => !number.is_f64() || number.as_f64().is_some_and(|n| n.fract() == 0.0),
        _ => type_of(value) == name,
    }
}

/// Compares as the database does: 1 and 1.0 are the same number.
fn equal(a: &Value, b: &Value) -> bool {
    a == b || matches!((a.as_f64(), b.as_f64()), (Some(a), Some(b)) if json!(a) == json!(b))
}

fn wrong_type(pattern: &Value, types: &str) -> String {
    let found = match pattern {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        scalar => scalar.to_string(),
    };
    format!("{found} cannot occur here; the type is {}", types.replace("array", "list"))
}

#[cfg(test)]
mod tests;
