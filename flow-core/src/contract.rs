//! JSON Schemas with their hashes, independent of the order in which a map keeps its keys.

use std::fmt::Write as _;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::definition::TypeContract;

impl TypeContract {
    /// The contract of type `T`, without the type's own name, so that a type may be renamed.
    pub fn of<T: JsonSchema>() -> Self {
        let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
        schema.remove("title");
        Self::from_schema(schema.into())
    }

    /// A contract that allows anything.
    pub fn any() -> Self {
        Self::from_schema(Value::Bool(true))
    }

    /// The contract with this JSON Schema.
    pub fn from_schema(schema: Value) -> Self {
        let schema = sorted(schema);
        let hash = hash_of(&schema);
        Self { schema, hash }
    }
}

/// The same value with the keys of its objects inserted in sorted order, whichever map `serde_json` was built with.
pub(crate) fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> = fields.into_iter().collect();
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(Map::from_iter(fields.into_iter().map(|(key, value)| (key, sorted(value)))))
        }
        scalar => scalar,
    }
}

fn hash_of(schema: &Value) -> String {
    let digest = Sha256::digest(schema.to_string().as_bytes());
    digest.iter().fold(String::new(), |mut text, byte| {
        // Writing into a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_hash_is_that_of_the_schema_with_sorted_keys() {
        let contract = TypeContract::from_schema(json!({"b": [{"d": 1, "c": 2}], "a": null}));
        assert_eq!(contract.schema.to_string(), r#"{"a":null,"b":[{"c":2,"d":1}]}"#);
        assert_eq!(contract, TypeContract::from_schema(json!({"a": null, "b": [{"c": 2, "d": 1}]})));
        assert_eq!(contract.hash.len(), 64);
    }

    #[test]
    fn a_type_has_its_schema() {
        assert_eq!(TypeContract::of::<Vec<u8>>().schema["type"], "array");
        assert_eq!(TypeContract::of::<Vec<u8>>().schema["title"], json!(null));
        assert_eq!(TypeContract::any().schema, json!(true));
    }
}
