//! Pairs of types, with the reasons why the one cannot read the other.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use super::reasons_against_reading;

fn schema<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}

fn reasons<Reader: JsonSchema, Writer: JsonSchema>() -> Vec<String> {
    reasons_against_reading(&schema::<Reader>(), &schema::<Writer>())
}

macro_rules! types {
    ($($(#[$attr:meta])* $name:ident { $($(#[$field_attr:meta])* $field:ident: $of:ty),* })*) => {
        $(#[derive(JsonSchema)] #[allow(dead_code)] $(#[$attr])* struct $name { $($(#[$field_attr])* $field: $of),* })*
    };
}

types! {
    Order { id: u32, lines: Vec<Line> }
    Line { sku: String }
    WithNote { id: u32, lines: Vec<Line>, note: Option<String> }
    WithTotal { id: u32, lines: Vec<Line>, total: i64 }
    Renamed { number: u32, lines: Vec<Line> }
    Wider { id: u64, lines: Vec<Line> }
    Optional { id: Option<u32>, lines: Vec<Line> }
    Textual { id: String, lines: Vec<Line> }
    #[schemars(deny_unknown_fields)] Strict { id: u32, lines: Vec<Line> }
    Tree { children: Vec<Tree> }
    Bush { children: Vec<Bush>, height: Option<f64> }
}

#[derive(JsonSchema)]
#[allow(dead_code)]
enum State {
    Open,
    Done,
}

#[derive(JsonSchema)]
#[allow(dead_code)]
enum MoreStates {
    Open,
    Done,
    Gone,
}

#[derive(JsonSchema)]
#[allow(dead_code)]
enum Payment {
    Card { number: String },
    Cash,
}

#[derive(JsonSchema)]
#[allow(dead_code)]
enum MorePayments {
    Card { number: String },
    Cash,
    Invoice { days: u8 },
}

#[test]
fn what_serde_reads_has_no_reason_against_it() {
    assert!(reasons::<Order, Order>().is_empty());
    assert!(reasons::<WithNote, Order>().is_empty(), "an optional field may be missing");
    assert!(reasons::<Order, WithNote>().is_empty(), "an unknown field is passed over");
    assert!(reasons::<Order, WithTotal>().is_empty());
    assert!(reasons::<Wider, Order>().is_empty());
    assert!(reasons::<Optional, Order>().is_empty());
    assert!(reasons::<f64, i32>().is_empty());
    assert!(reasons::<Vec<u8>, Vec<u8>>().is_empty());
    assert!(reasons::<MoreStates, State>().is_empty());
    assert!(reasons::<MorePayments, Payment>().is_empty());
    assert!(reasons::<Bush, Tree>().is_empty() && reasons::<Tree, Bush>().is_empty(), "types in a circle");
    assert!(reasons::<Value, Order>().is_empty());
    assert!(reasons::<std::collections::HashMap<String, u64>, std::collections::HashMap<String, u8>>().is_empty());
}

#[test]
fn what_serde_refuses_is_named_with_its_path() {
    assert_eq!(reasons::<WithTotal, Order>(), ["/total is not always there, and is required"]);
    assert_eq!(reasons::<Renamed, Order>(), ["/number is not always there, and is required"]);
    assert_eq!(reasons::<Order, Wider>(), ["/id may be a number out of range"]);
    assert_eq!(
        reasons::<Order, Optional>(),
        ["/id is not always there, and is required", "/id is null, and integer is expected"]
    );
    assert_eq!(reasons::<Textual, Order>(), ["/id is integer, and string is expected"]);
    assert_eq!(reasons::<Strict, WithNote>(), ["/note is not known, and is denied"]);
    assert_eq!(reasons::<State, MoreStates>(), ["/ may hold values that are not listed any more"]);
    assert!(!reasons::<Payment, MorePayments>().is_empty());
    assert_eq!(reasons::<(u8, u8), (u8, u8, u8)>(), ["/ may have another number of elements"]);
    assert_eq!(reasons::<Vec<String>, Vec<u8>>(), ["/* is integer, and string is expected"]);
    assert_eq!(reasons::<Order, Value>(), ["/ is any, and object is expected"]);
    assert_eq!(
        reasons::<std::collections::HashMap<String, u8>, std::collections::HashMap<String, u64>>(),
        ["/* may be a number out of range"]
    );
}
