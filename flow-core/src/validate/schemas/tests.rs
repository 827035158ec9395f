//! Tests of conditions against the schemas of their subjects.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::{
    definition::TypeContract,
    draft::{FlowDraft, StepDraft},
};

#[derive(JsonSchema)]
#[expect(dead_code, reason = "known by its schema only")]
struct Order {
    gift: bool,
    note: Option<String>,
    lines: Vec<Line>,
    way: Way,
    labels: BTreeMap<String, u32>,
    anything: Value,
    #[schemars(flatten)]
    rest: Rest,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "known by its schema only")]
struct Line {
    sku: String,
    count: u32,
    parts: Vec<Line>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "known by its schema only")]
struct Rest {
    weight: f64,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "known by its schema only")]
enum Way {
    Bike,
    Van { plate: String },
}

/// The mistakes that `check` reports for a root step's condition on an input of type `T`.
fn on<T: JsonSchema>(pattern: Value) -> Option<String> {
    on_input(TypeContract::of::<T>(), pattern)
}

/// The mistakes that `check` reports for a root step's condition on an input with this schema.
fn on_schema(schema: &Value, pattern: Value) -> Option<String> {
    on_input(TypeContract::from_schema(schema.clone()), pattern)
}

fn on_input(input: TypeContract, pattern: Value) -> Option<String> {
    let step = StepDraft { run_if: Some(pattern), ..StepDraft::single("a") };
    let draft = FlowDraft { steps: vec![step], input, ..FlowDraft::new("shop") };
    let errors = draft.assemble().expect("legal").check().err()?;
    Some(errors.mistakes()[0].to_string())
}

#[track_caller]
fn accepted<T: JsonSchema>(pattern: Value) {
    assert_eq!(on::<T>(pattern), None);
}

#[track_caller]
fn refused<T: JsonSchema>(pattern: Value, reason: &str) {
    assert_eq!(on::<T>(pattern), Some(format!("run_if of step `a`, at {reason}")));
}

// D24
#[test]
fn patterns_that_a_value_can_contain_pass() {
    accepted::<Order>(json!({"gift": true, "note": null, "lines": [{"sku": "x", "count": 2.0}]}));
    accepted::<Order>(json!({"note": "x", "way": "Bike", "labels": {"any": 1}, "anything": [{"at": "all"}]}));
    accepted::<Order>(json!({"way": {"Van": {"plate": "B"}}, "weight": 1.5}));
    accepted::<Order>(json!({"lines": [{"parts": [{"parts": []}]}]}));
    accepted::<Vec<String>>(json!("x"));
    accepted::<(u8, String)>(json!(["x", 1]));
    accepted::<Option<u8>>(json!(null));
    accepted::<Value>(json!({"a": [1]}));
}

// D24
#[test]
fn a_key_that_the_type_does_not_know_is_refused() {
    refused::<Order>(json!({"gfit": true}), "`gfit`: the type has no field `gfit`; did you mean `gift`?");
    refused::<Order>(
        json!({"lines": [{"price": 1}]}),
        "`lines[0].price`: the type has no field `price`; it has `count`, `parts`, `sku`",
    );
}

// D24
#[test]
fn a_value_of_a_type_it_cannot_have_is_refused() {
    refused::<Order>(json!({"gift": "yes"}), "`gift`: \"yes\" cannot occur here; the type is boolean");
    refused::<Order>(json!({"note": 1}), "`note`: 1 cannot occur here; the type is null or string");
    refused::<Order>(json!({"lines": {"sku": "x"}}), "`lines`: an object cannot occur here; the type is list");
    refused::<Order>(
        json!({"lines": [{"count": 1.5}]}),
        "`lines[0].count`: 1.5 cannot occur here; the type is integer",
    );
    refused::<Order>(json!({"labels": {"any": "x"}}), "`labels.any`: \"x\" cannot occur here; the type is integer");
    refused::<u32>(json!("x"), "`the input`: \"x\" cannot occur here; the type is integer");
}

// D24
#[test]
fn a_value_that_the_type_does_not_list_is_refused() {
    let found = on::<Option<Plain>>(json!("Boat")).expect("refused");
    assert!(found.contains("\"Boat\" is none of the values of this type: \"Bike\", \"Van\""), "{found}");
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "known by its schema only")]
enum Plain {
    Bike,
    Van,
}

#[test]
fn references_in_a_circle_end() {
    let schema = json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }, { "allOf": [{ "$ref": "#/anyOf/0" }] }] });
    let step = StepDraft { run_if: Some(json!({"a": [1]})), ..StepDraft::single("a") };
    let input = TypeContract::from_schema(schema);
    let draft = FlowDraft { steps: vec![step], input, ..FlowDraft::new("shop") };
    assert_eq!(draft.assemble().expect("legal").check(), Ok(()));
}

// D24
#[test]
fn a_dependents_pattern_is_checked_against_the_outputs() {
    let map = StepDraft { output: TypeContract::of::<Line>(), ..StepDraft::map("pick", "input") };
    let on = |pattern: Value| {
        let step = StepDraft { needs: vec!["pick".into()], run_unless: Some(pattern), ..StepDraft::single("ship") };
        let draft = FlowDraft { steps: vec![map.clone(), step], ..FlowDraft::new("shop") };
        draft.assemble().expect("legal").check().err().map(|errors| errors.mistakes()[0].to_string())
    };
    assert_eq!(on(json!({"pick": [{"sku": "x"}]})), None);
    let expected = "run_unless of step `ship`, at `pick[0].sku`: 1 cannot occur here; the type is string";
    assert_eq!(on(json!({"pick": [{"sku": 1}]})).as_deref(), Some(expected));
    let expected = "run_unless of step `ship`, at `pick`: an object cannot occur here; the type is list";
    assert_eq!(on(json!({"pick": {"sku": "x"}})).as_deref(), Some(expected));
}

// D24
#[test]
fn a_scalar_that_one_alternative_allows_passes_beside_a_list() {
    let either = json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]});
    for pattern in [json!("x"), json!(7), json!([7])] {
        assert_eq!(on_schema(&either, pattern.clone()), None, "{pattern}");
    }
    let text = "run_if of step `a`, at `[0]`: \"x\" cannot occur here; the type is integer";
    assert_eq!(on_schema(&either, json!(["x"])).as_deref(), Some(text));
}

// D24
#[test]
fn listed_values_are_equal_as_the_database_compares() {
    accepted::<Plain>(json!("Bike"));
    let listed = json!({"enum": [1, 2.5, "x", true]});
    for pattern in [json!(1), json!(1.0), json!(2.5), json!("x"), json!(true)] {
        assert_eq!(on_schema(&listed, pattern.clone()), None, "{pattern}");
    }
    let constant = json!({"type": "integer", "const": 5});
    assert_eq!(on_schema(&constant, json!(5.0)), None);
    for (schema, pattern) in [(&listed, json!(2)), (&listed, json!(false)), (&constant, json!(6))] {
        let found = on_schema(schema, pattern).expect("not listed");
        assert!(found.contains("is none of the values of this type"), "{found}");
    }
    let text = "run_if of step `a`, at `the input`: 1 cannot occur here; the type is string";
    assert_eq!(on_schema(&json!({"enum": ["x", "y"]}), json!(1)).as_deref(), Some(text));
}

// D24
#[test]
fn of_several_alternatives_the_deepest_mismatch_is_told_and_of_equal_ones_the_first() {
    let deep = json!({"type": "object", "properties": {"b": {"type": "integer"}}});
    let with = |first: &Value, second: &Value| {
        let part = |field: &Value| json!({"type": "object", "properties": {"a": field}});
        json!({"anyOf": [part(first), part(second)]})
    };
    let flat = json!({"type": "string"});
    for schema in [with(&deep, &flat), with(&flat, &deep)] {
        let found = on_schema(&schema, json!({"a": {"b": "x"}}));
        let text = "run_if of step `a`, at `a.b`: \"x\" cannot occur here; the type is integer";
        assert_eq!(found.as_deref(), Some(text));
    }
    let found = on_schema(&with(&flat, &json!({"type": "boolean"})), json!({"a": 1}));
    assert_eq!(found.as_deref(), Some("run_if of step `a`, at `a`: 1 cannot occur here; the type is string"));
}

// D24
#[test]
fn a_type_that_is_open_to_other_keys_takes_them() {
    let with = |keyword: &str, rest: Value| json!({"properties": {"known": {"type": "integer"}}, keyword: rest});
    let other = json!({"other": 1});
    for schema in [
        with("additionalProperties", json!(true)),
        with("additionalProperties", json!({"type": "integer"})),
        with("patternProperties", json!({"^o": {"type": "integer"}})),
    ] {
        assert_eq!(on_schema(&schema, other.clone()), None, "{schema}");
    }
    for closed in [json!(false), json!({"not": {}})] {
        let found = on_schema(&with("additionalProperties", closed), other.clone()).expect("closed");
        assert!(found.contains("the type has no field `other`; it has `known`"), "{found}");
    }
}
