//! JSON containment as Postgres has it.

use serde_json::Value;

/// Whether `whole` contains `part`, as `whole @> part` says. At the top an array also contains a scalar that it has.
pub(super) fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Array(elements), Value::Object(_) | Value::Array(_)) => nested(&Value::Array(elements.clone()), part),
        (Value::Array(elements), scalar) => elements.contains(scalar),
        _ => nested(whole, part),
    }
}

fn nested(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|whole| nested(whole, value)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            part.iter().all(|value| whole.iter().any(|whole| nested(whole, value)))
        }
        (Value::Object(_) | Value::Array(_), _) | (_, Value::Object(_) | Value::Array(_)) => false,
        (whole, part) => whole == part,
    }
}
