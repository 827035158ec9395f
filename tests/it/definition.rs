//! Definitions: the rules in Rust and the rules in SQL give the same verdict.

use flow_runtime::{FlowBuilder, QueueName, StepBuilder, definition::FlowDefinition, prelude::*};
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
    let lengths = (option(0, year), option(0, year), option(1, 24 * 3600 * 1000), option(0, year));
    (option(1, 1_000), lengths, option(1, 9)).prop_map(|(attempts, (base, longest, timeout, start), priority)| {
        let given = [
            ("max_attempts", attempts),
            ("base_delay_ms", base),
            ("max_delay_ms", longest),
            ("timeout_ms", timeout),
            ("start_delay_ms", start),
            ("priority", priority),
        ];
        given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?)))).collect()
    })
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

pub(crate) fn definition() -> impl Strategy<Value = Value> {
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
        let is_of_flows = |name: &str| !["start_delay_ms", "priority"].contains(&name);
        for (name, value) in own.as_object().into_iter().flatten().filter(|(name, _)| is_of_flows(name)) {
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

/// Slugs whose queue names lie around the longest that is allowed.
fn at_the_border() -> impl Strategy<Value = (String, String, i32)> {
    let slug = |lengths: std::ops::Range<usize>| {
        prop::collection::vec(prop::char::ranges(vec!['a'..='z', 'A'..='Z'].into()), lengths)
            .prop_map(String::from_iter)
    };
    let index = prop_oneof![Just(0), Just(9), Just(10), Just(99), Just(100), 0..3_000];
    prop_oneof![
        (slug(1..48), slug(1..60), index.clone()),
        (slug(40..48), slug(1..6), index.clone()),
        (slug(18..24), slug(20..30), index),
    ]
}

// Q6
#[tokio::test]
async fn rust_and_the_database_name_ten_thousand_queues_alike() {
    let engine = Engine::new().await;
    let config = Config { rng_seed: RngSeed::Fixed(6), ..Config::default() };
    let mut runner = TestRunner::new(config);
    let cases: Vec<_> = (0..10_000).map(|_| at_the_border().new_tree(&mut runner).unwrap().current()).collect();
    let (flows, steps): (Vec<_>, Vec<_>) = cases.iter().map(|(flow, step, _)| (flow.clone(), step.clone())).unzip();
    let named: Vec<Option<String>> = sqlx::query_scalar(
        "select flow.step_queue_name(c.flow, c.step, c.index)
         from unnest($1, $2, $3) with ordinality c(flow, step, index, ord) order by c.ord",
    )
    .bind(flows)
    .bind(steps)
    .bind(cases.iter().map(|(_, _, index)| *index).collect::<Vec<_>>())
    .fetch_all(engine.pool())
    .await
    .unwrap();
    let mut kinds = [0, 0, 0];
    for ((flow, step, index), by_sql) in cases.iter().zip(named) {
        let by_rust = QueueName::of_step(flow, step, usize::try_from(*index).unwrap()).ok();
        assert_eq!(by_rust.as_ref().map(QueueName::as_str), by_sql.as_deref(), "{flow} {step} {index}");
        let readable = format!("{flow}__{step}").to_lowercase();
        kinds[by_sql.map_or(2, |name| usize::from(name != readable))] += 1;
    }
    assert!(kinds.iter().all(|count| *count > 500), "readable, by index, refused: {kinds:?}");
}

/// A flow whose condition no input can meet.
struct Hopeless;

#[flow(input = bool)]
impl Hopeless {
    #[step(run_if = { "gift": true })]
    async fn wrap(&self, input: bool) -> Result<bool, StepError> {
        Ok(input)
    }
}

// D23 D24
#[tokio::test]
async fn what_needs_no_database_is_refused_before_any_connection() {
    let nowhere = Db::new("postgres://nobody@127.0.0.1:1/none").unwrap();
    let Err(error) = Worker::builder(&nowhere).flow(Hopeless).build() else { panic!("the worker was built") };
    assert!(error.to_string().contains("`wrap`"), "{error}");
    let set = WorkerSet::builder(&nowhere).worker(Worker::builder(&nowhere).flow(Hopeless)).build();
    let Err(error) = set else { panic!("the set was built") };
    assert!(error.to_string().contains("`wrap`"), "{error}");

    let step = || StepBuilder::single("a");
    let mistakes = [
        (FlowBuilder::new("flow"), "no step"),
        (FlowBuilder::new("1a").step(step()), "`1a`"),
        (FlowBuilder::new("flow").step(StepBuilder::single("run")), "`run`"),
        (FlowBuilder::new("flow").step(step()).step(StepBuilder::single("A")), "`A`"),
        (FlowBuilder::new("flow").step(step().needs(["b"])), "`b`"),
        (FlowBuilder::new("flow").step(step().after(["a"])), "`a`"),
        (FlowBuilder::new("flow").step(step()).step(StepBuilder::single("b").needs(["a"]).after(["a"])), "`a`"),
        (FlowBuilder::new("flow").step(step().max_attempts(0)), "max_attempts"),
        (FlowBuilder::new("flow").timeout(std::time::Duration::ZERO).step(step()), "timeout"),
        (FlowBuilder::new("flow").step(step().when_unmet(flow_runtime::definition::Mode::Fail)), "when_unmet"),
        (FlowBuilder::new("flow").step(step()).step(StepBuilder::single("b").needs(["a"]).run_if(json!(7))), "run_if"),
        (FlowBuilder::new("x".repeat(48)).step(step()), "48"),
        (
            FlowBuilder::new("x".repeat(45)).queue_mode(flow_runtime::definition::QueueMode::StepQueues).step(step()),
            "47",
        ),
    ];
    for (graph, named) in mistakes {
        let error = graph.build().unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}
