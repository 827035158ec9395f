//! One form of a JSON Schema: a single type, with references followed and alternatives opened.

use std::sync::LazyLock;

use serde_json::{Map, Value};

/// A place in a schema, with the whole document, in which references are resolved.
#[derive(Clone, Copy)]
pub(super) struct Schema<'a> {
    document: &'a Value,
    here: &'a Value,
}

/// One form that a value may have, of one JSON type.
pub(super) struct Alternative<'a> {
    schema: Schema<'a>,
    kind: &'a str,
}

/// Keywords that do not restrict the values.
const ANNOTATIONS: [&str; 8] =
    ["title", "description", "default", "examples", "deprecated", "$schema", "$defs", "$comment"];

/// Keywords that the comparison understands; every other keyword counts as a further rule.
const COMPARED: [&str; 15] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "$ref",
];

static ANYTHING: LazyLock<Value> = LazyLock::new(|| Value::Bool(true));

impl<'a> Schema<'a> {
    pub(super) fn root(document: &'a Value) -> Self {
        Self { document, here: document }
    }

    pub(super) fn here(self) -> &'a Value {
        self.here
    }

    fn at(self, here: &'a Value) -> Self {
        Self { here, ..self }
    }

    /// Every form that a value may have; references are followed, `anyOf` and `oneOf` opened.
    pub(super) fn alternatives(self) -> Vec<Alternative<'a>> {
        let mut found = Vec::new();
        self.open(&mut found, &mut Vec::new());
        found
    }

    fn open(self, found: &mut Vec<Alternative<'a>>, seen: &mut Vec<&'a Value>) {
        if seen.iter().any(|place| std::ptr::eq(*place, self.here)) {
            return;
        }
        seen.push(self.here);
        let listed = |keyword| self.here.get(keyword).and_then(Value::as_array);
        if let Some(parts) = listed("anyOf").or_else(|| listed("oneOf")) {
            parts.iter().for_each(|part| self.at(part).open(found, seen));
        } else if let Some(path) = self.here.get("$ref").and_then(Value::as_str) {
            let named = path.strip_prefix('#').and_then(|path| self.document.pointer(path)).unwrap_or(&ANYTHING);
            self.at(named).open(found, seen);
        } else {
            found.extend(self.kinds().into_iter().map(|kind| Alternative { schema: self, kind }));
        }
        seen.pop();
    }

    /// The JSON types that this place names, or that its listed values have; `any` where neither is given.
    fn kinds(self) -> Vec<&'a str> {
        match self.here.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => vec![self.kind_of_values()],
        }
    }

    fn kind_of_values(self) -> &'static str {
        let value = self.here.get("const").or_else(|| self.here.get("enum").and_then(|listed| listed.get(0)));
        match value {
            Some(Value::String(_)) => "string",
            Some(Value::Number(_)) => "number",
            Some(Value::Bool(_)) => "boolean",
            Some(Value::Null) => "null",
            _ => "any",
        }
    }
}

impl<'a> Alternative<'a> {
    pub(super) fn kind(&self) -> &'a str {
        self.kind
    }

    fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.schema.here.get(keyword)
    }

    fn at(&self, here: &'a Value) -> Schema<'a> {
        self.schema.at(here)
    }

    /// Whether the schema restricts nothing: it has annotations only.
    pub(super) fn takes_anything(&self) -> bool {
        match self.schema.here {
            Value::Object(keywords) => keywords.keys().all(|keyword| ANNOTATIONS.contains(&keyword.as_str())),
            other => *other == Value::Bool(true),
        }
    }

    /// Whether both schemas have the same text, and the same definitions, so that their references mean the same.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.schema.here == other.schema.here
            && self.schema.document.get("$defs") == other.schema.document.get("$defs")
    }

    /// The only values that may occur, when the schema lists them.
    pub(super) fn values(&self) -> Option<Vec<&'a Value>> {
        match (self.get("const"), self.get("enum")) {
            (Some(value), _) => Some(vec![value]),
            (None, Some(Value::Array(listed))) => Some(listed.iter().collect()),
            _ if self.kind == "null" => Some(vec![&Value::Null]),
            _ => None,
        }
    }

    /// The smallest and the largest integer allowed, by `minimum`, `maximum` and the format.
    pub(super) fn range(&self) -> (i128, i128) {
        let (least, most) = match self.get("format").and_then(Value::as_str) {
            Some("int8") => (i8::MIN.into(), i8::MAX.into()),
            Some("int16") => (i16::MIN.into(), i16::MAX.into()),
            Some("int32") => (i32::MIN.into(), i32::MAX.into()),
            Some("int64" | "int") => (i64::MIN.into(), i64::MAX.into()),
            Some("uint8") => (0, u8::MAX.into()),
            Some("uint16") => (0, u16::MAX.into()),
            Some("uint32") => (0, u32::MAX.into()),
            Some("uint64" | "uint") => (0, u64::MAX.into()),
            _ => (i128::MIN, i128::MAX),
        };
        let bound = |keyword| self.get(keyword).and_then(Value::as_number).and_then(serde_json::Number::as_i128);
        (least.max(bound("minimum").unwrap_or(least)), most.min(bound("maximum").unwrap_or(most)))
    }

    pub(super) fn required(&self) -> Vec<&'a str> {
        let named = self.get("required").and_then(Value::as_array);
        named.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    fn properties(&self) -> Option<&'a Map<String, Value>> {
        self.get("properties").and_then(Value::as_object)
    }

    pub(super) fn fields(&self) -> Vec<(&'a str, Schema<'a>)> {
        let fields = self.properties().into_iter().flatten();
        fields.map(|(name, field)| (name.as_str(), self.at(field))).collect()
    }

    pub(super) fn field(&self, name: &str) -> Option<Schema<'a>> {
        self.properties().and_then(|fields| fields.get(name)).map(|field| self.at(field))
    }

    /// The schema of all fields that are not named, where there is one.
    pub(super) fn other_fields(&self) -> Option<Schema<'a>> {
        self.get("additionalProperties").filter(|others| !others.is_boolean()).map(|others| self.at(others))
    }

    pub(super) fn denies_unknown_fields(&self) -> bool {
        self.get("additionalProperties") == Some(&Value::Bool(false))
    }

    /// The smallest and the largest number of elements.
    pub(super) fn length(&self) -> (u64, u64) {
        let bound = |keyword| self.get(keyword).and_then(Value::as_u64);
        (bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(u64::MAX))
    }

    /// How many elements have a schema of their own.
    pub(super) fn places(&self) -> usize {
        self.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len)
    }

    pub(super) fn element(&self, at: usize) -> Option<Schema<'a>> {
        let own = self.get("prefixItems").and_then(|items| items.get(at)).map(|item| self.at(item));
        own.or_else(|| self.further_elements())
    }

    pub(super) fn further_elements(&self) -> Option<Schema<'a>> {
        self.get("items").map(|item| self.at(item))
    }

    /// Whether every further rule of this schema is one of `writer` too.
    pub(super) fn has_rules_of(&self, writer: &Self) -> bool {
        let is_rule = |keyword: &str| {
            let is_width = keyword == "format" && matches!(self.kind, "integer" | "number");
            !(is_width || ANNOTATIONS.contains(&keyword) || COMPARED.contains(&keyword))
        };
        let rules = self.schema.here.as_object().into_iter().flatten();
        rules.filter(|(keyword, _)| is_rule(keyword)).all(|(keyword, rule)| writer.get(keyword) == Some(rule))
    }
}
