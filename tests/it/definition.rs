//! Definitions: the rules in Rust and the rules in SQL give the same verdict.

use flow_runtime::definition::FlowDefinition;
use flow_tests::support::{Engine, Graph};
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngSeed, TestRunner},
};
use serde_json::{Value, json};

/// Mostly legal slugs, with some of every kind that is not.
fn slug() -> impl Strategy<Value = String> {
    prop_oneof![
        30 => "[a-d]",
        6 => "[A-Za-z][A-Za-z0-9]{0,6}",
        2 => prop_oneof![Just("A"), Just("fulfil_order"), Just("a_1")].prop_map(str::to_owned),
        1 => prop_oneof![
            Just(""), Just("1a"), Just("_a"), Just("a_"), Just("a__b"), Just("a-b"), Just("a b"), Just("é"), Just("run"),
            Just("Input"), Just("item"), Just("ctx"), Just("DEPS"),
        ].prop_map(str::to_owned),
        1 => (1_usize..140).prop_map(|length| "x".repeat(length)),
    ]
}

fn names() -> impl Strategy<Value = Vec<String>> {
    prop_oneof![3 => Just(Vec::new()), 4 => prop::collection::vec("[a-d]", 1..3)]
}

fn mode() -> impl Strategy<Value = Value> {
    prop_oneof![Just("skip"), Just("skip_cascade"), Just("fail")].prop_map(Value::from)
}

fn condition() -> impl Strategy<Value = Option<Value>> {
    let pattern = prop_oneof![
        Just(json!(null)),
        Just(json!({})),
        Just(json!(7)),
        Just(json!([1])),
        "[a-d]".prop_map(|key| json!({ key: 1 })),
    ];
    prop_oneof![6 => Just(None), 1 => pattern.prop_map(Some)]
}

fn option(least: u64, most: u64) -> impl Strategy<Value = Option<u64>> {
    prop_oneof![
        12 => Just(None),
        2 => Just(Some(least.max(1))),
        1 => prop_oneof![Just(least), Just(least.saturating_sub(1)), Just(most), Just(most + 1)].prop_map(Some),
    ]
}

fn options() -> impl Strategy<Value = Value> {
    let year = 365 * 24 * 3600 * 1000;
    (option(1, 1_000), option(0, year), option(0, year), option(1, 24 * 3600 * 1000), option(0, year)).prop_map(
        |(attempts, base, longest, timeout, start)| {
            let given = [
                ("max_attempts", attempts),
                ("base_delay_ms", base),
                ("max_delay_ms", longest),
                ("timeout_ms", timeout),
                ("start_delay_ms", start),
            ];
            given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?)))).collect()
        },
    )
}

fn step() -> impl Strategy<Value = (Value, Value)> {
    let over = prop_oneof![5 => Just(Value::Null), 1 => Just(json!("input")), 2 => "[a-d]".prop_map(Value::from)];
    let unmet = prop_oneof![4 => Just(None), 1 => mode().prop_map(Some)];
    (slug(), over, names(), names(), (condition(), condition()), unmet, mode(), options()).prop_map(
        |(slug, over, needs, after, (run_if, run_unless), unmet, exhausted, options)| {
            let kind = if over.is_null() { "single" } else { "map" };
            let has_condition = run_if.is_some() || run_unless.is_some();
            let unmet = unmet.or(has_condition.then(|| json!("skip"))).unwrap_or_default();
            let mut step = json!({
                "slug": slug, "kind": kind, "over": over, "needs": needs, "after": after, "when_unmet": unmet,
                "when_exhausted": exhausted, "queue": null,
            });
            for (name, pattern) in [("run_if", run_if), ("run_unless", run_unless)] {
                if let Some(pattern) = pattern {
                    step[name] = pattern;
                }
            }
            (step, options)
        },
    )
}

/// Names the steps `a`, `b`, `c` … and lets each depend only on earlier ones, and on each once: what is left of mistakes is
/// in the rest.
fn straighten(steps: &mut [(Value, Value)]) {
    for (at, (step, _)) in steps.iter_mut().enumerate() {
        let mut earlier: Vec<Value> = (b'a'..).take(at).map(|letter| char::from(letter).to_string().into()).collect();
        step["slug"] = char::from(b'a' + at as u8).to_string().into();
        let mut take = |name: &Value| earlier.iter().position(|other| other == name).map(|place| earlier.remove(place));
        if step["over"] != "input" && take(&step["over"]).is_none() {
            (step["over"], step["kind"]) = (Value::Null, "single".into());
        }
        for list in ["needs", "after"] {
            step[list] = step[list].as_array().into_iter().flatten().filter_map(&mut take).collect();
        }
    }
}

fn definition() -> impl Strategy<Value = Value> {
    let mode = prop_oneof![3 => Just("plain"), 2 => Just("step_queues")];
    let steps = prop::collection::vec(step(), 0..5);
    (slug(), mode, steps, options(), prop::bool::ANY).prop_map(|(slug, mode, mut steps, own, is_straight)| {
        if is_straight {
            straighten(&mut steps);
        }
        let mut definition = Graph::new(&slug).definition();
        let (shapes, step_options): (Vec<Value>, Vec<Value>) = steps.into_iter().unzip();
        let count = shapes.len();
        definition["shape"]["queue_mode"] = mode.into();
        definition["shape"]["steps"] = shapes.into();
        definition["options"]["steps"] = step_options.into();
        for (name, value) in own.as_object().into_iter().flatten().filter(|(name, _)| *name != "start_delay_ms") {
            definition["options"][name] = value.clone();
        }
        let anything = definition["contract"]["input"].clone();
        definition["contract"]["outputs"] = vec![anything; count].into();
        definition["notes"]["steps"] = vec![Value::Null; count].into();
        definition
    })
}

// D21
#[tokio::test]
async fn rust_and_the_database_judge_a_thousand_definitions_alike() {
    let engine = Engine::new().await;
    let config = Config { rng_seed: RngSeed::Fixed(21), ..Config::default() };
    let mut runner = TestRunner::new(config);
    let (mut legal, mut illegal) = (0, 0);
    for _ in 0..4_000 {
        let sent = definition().new_tree(&mut runner).unwrap().current();
        let judged = serde_json::from_value::<FlowDefinition>(sent.clone()).unwrap().validate();
        // Few random graphs are legal; a share of the others is enough.
        if judged.is_err() && illegal >= 1_000 {
            continue;
        }
        let errors: Vec<String> =
            sqlx::query_scalar("select flow.definition_errors($1)").bind(&sent).fetch_one(engine.pool()).await.unwrap();
        assert_eq!(errors.is_empty(), judged.is_ok(), "{errors:?}\n{judged:?}\n{sent:#}");
        *if judged.is_ok() { &mut legal } else { &mut illegal } += 1;
    }
    println!("{legal} legal, {illegal} illegal");
    assert!(legal >= 200 && illegal >= 800, "{legal} legal, {illegal} illegal");
}
