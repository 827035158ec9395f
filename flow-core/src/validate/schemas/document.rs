//! What a JSON Schema says of a value's type, its fields and its elements; alternatives are joined.

use serde_json::{Map, Value};

/// A place in a schema, with the document in which its references are resolved.
#[derive(Clone, Copy)]
pub(super) struct Schema<'a> {
    document: &'a Value,
    here: &'a Value,
}

/// What a schema says of one key.
pub(super) enum Field<'a> {
    /// Anything may stand there.
    Free,
    /// One of these.
    Known(Vec<Schema<'a>>),
    /// The type has no such key.
    Unknown,
}

impl<'a> Schema<'a> {
    pub(super) fn root(document: &'a Value) -> Self {
        Self { document, here: document }
    }

    /// The JSON types a value may have; none when any may.
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

    /// The values listed by `const` and `enum`, when nothing but they can occur.
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

    /// The schemas of a list's elements, in any place.
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

    /// The places one of which describes a value: references followed, `anyOf` and `oneOf` opened.
    fn alternatives(self) -> Vec<Schema<'a>> {
        let mut found = Vec::new();
        self.open(&mut found, false, &mut Vec::new());
        found
    }

    /// Every place that says something of a value: as the alternatives, and with what stands beside and above them.
    fn parts(self) -> Vec<Schema<'a>> {
        let mut found = Vec::new();
        self.open(&mut found, true, &mut Vec::new());
        found
    }

    /// Opens each place once, so that references in a circle end.
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

    /// What `#/$defs/Name` names; anything at all when it is not there.
    fn resolve(self, reference: &str) -> &'a Value {
        reference.strip_prefix('#').and_then(|path| self.document.pointer(path)).unwrap_or(&Value::Bool(true))
    }
}
