//! Reads from a JSON Schema the types, fields and elements of a value; the results for all alternatives are joined.

use serde_json::{Map, Value};

/// A place in a schema, with the whole document, in which references are resolved.
#[derive(Clone, Copy)]
pub(super) struct Schema<'a> {
    document: &'a Value,
    here: &'a Value,
}

/// What a schema says of the value under one key.
pub(super) enum Field<'a> {
    /// The value may be anything.
    Free,
    /// The value has one of these schemas.
    Known(Vec<Schema<'a>>),
    /// The type has no such key.
    Unknown,
}

impl<'a> Schema<'a> {
    pub(super) fn root(document: &'a Value) -> Self {
        Self { document, here: document }
    }

    /// The JSON types that a value may have; empty when a value may have any.
    pub(super) fn types(self) -> Vec<&'a str> {
        let mut types = Vec::new();
        for part in self.alternatives() {
            match part.named_types() {
                Some(named) => types.extend(named),
                None => return Vec::new(),
            }
        }
        types.sort_unstable();
        types.dedup();
        types
    }

    /// The values that `const` and `enum` list, when no other value can occur.
    pub(super) fn values(self) -> Option<Vec<&'a Value>> {
        let mut values = Vec::new();
        for part in self.alternatives() {
            match (part.get("const"), part.get("enum")) {
                (Some(value), _) => values.push(value),
                (None, Some(Value::Array(listed))) => values.extend(listed),
                _ if part.named_types() == Some(vec!["null"]) => values.push(&Value::Null),
                _ => return None,
            }
        }
        (!values.is_empty()).then_some(values)
    }

    /// The schemas of a list's elements, whatever their place in the list.
    pub(super) fn items(self) -> Vec<Schema<'a>> {
        let parts = self.alternatives();
        let of = |part: &Schema<'a>| -> Vec<Schema<'a>> {
            let first = part.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
            first.chain(part.get("items")).map(|here| part.at(here)).collect()
        };
        parts.iter().flat_map(of).collect()
    }

    /// What is known of the value under `key`.
    pub(super) fn field(self, key: &str) -> Field<'a> {
        let mut known = Vec::new();
        let mut names_fields = false;
        for part in self.parts() {
            let properties = part.get("properties").and_then(Value::as_object);
            names_fields |= properties.is_some();
            match (properties.and_then(|fields| fields.get(key)), part.get("additionalProperties")) {
                (Some(field), _) => known.push(part.at(field)),
                (None, Some(Value::Object(rest))) if !rest.contains_key("not") => {
                    known.extend(part.get("additionalProperties").map(|rest| part.at(rest)));
                }
                (None, Some(Value::Bool(true))) => return Field::Free,
                _ if part.get("patternProperties").is_some() => return Field::Free,
                _ => {}
            }
        }
        match known.is_empty() {
            false => Field::Known(known),
            true if names_fields => Field::Unknown,
            true => Field::Free,
        }
    }

    /// The names of the fields that are known.
    pub(super) fn keys(self) -> Vec<&'a str> {
        let parts = self.parts();
        let properties = parts.iter().filter_map(|part| part.get("properties").and_then(Value::as_object));
        properties.flat_map(Map::keys).map(String::as_str).collect()
    }

    fn get(self, keyword: &str) -> Option<&'a Value> {
        self.here.get(keyword)
    }

    fn at(self, here: &'a Value) -> Self {
        Self { here, ..self }
    }

    fn named_types(self) -> Option<Vec<&'a str>> {
        match (self.get("type"), self.get("const").or(self.get("enum").and_then(|listed| listed.get(0)))) {
            (Some(Value::String(name)), _) => Some(vec![name]),
            (Some(Value::Array(names)), _) => Some(names.iter().filter_map(Value::as_str).collect()),
            (_, Some(Value::String(_))) => Some(vec!["string"]),
            _ => None,
        }
    }

    /// The schemas of which one describes the value: references are followed, `anyOf` and `oneOf` opened.
    fn alternatives(self) -> Vec<Schema<'a>> {
        let mut found = Vec::new();
        self.open(&mut found, false, &mut Vec::new());
        found
    }

    /// Every schema that may restrict the value: the alternatives, the schemas that hold them, and `allOf`.
    fn parts(self) -> Vec<Schema<'a>> {
        let mut found = Vec::new();
        self.open(&mut found, true, &mut Vec::new());
        found
    }

    /// Collects the schemas, opening each place once, so that circular references end.
    fn open(self, found: &mut Vec<Schema<'a>>, with_parents: bool, seen: &mut Vec<&'a Value>) {
        if seen.iter().any(|place| std::ptr::eq(*place, self.here)) {
            return;
        }
        seen.push(self.here);
        let listed = |keyword| self.get(keyword).and_then(Value::as_array).into_iter().flatten();
        let inner: Vec<Schema<'a>> = listed("anyOf")
            .chain(listed("oneOf"))
            .chain(listed("allOf").filter(|_| with_parents))
            .map(|here| self.at(here))
            .chain(self.get("$ref").and_then(Value::as_str).map(|path| self.at(self.resolve(path))))
            .collect();
        if inner.is_empty() || with_parents {
            found.push(self);
        }
        for part in inner {
            part.open(found, with_parents, seen);
        }
    }

    /// The schema to which `reference`, such as `#/$defs/Name`, points; `true` (anything) when there is none.
    fn resolve(self, reference: &str) -> &'a Value {
        reference.strip_prefix('#').and_then(|path| self.document.pointer(path)).unwrap_or(&Value::Bool(true))
    }
}
