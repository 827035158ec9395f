//! Shapes: the order and numbers of steps, the same from macro, builder and database, and each difference that a deployment
//! finds.

use std::time::Duration;

use flow_runtime::{
    FlowBuilder, StepBuilder, StepEnum, StepQueued,
    definition::{FlowDefinition, Mode, QueueMode},
    prelude::*,
    with_step_queues,
};
use flow_tests::support::{Engine, Graph};
use proptest::{
    collection::vec,
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngSeed, TestRunner},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The shape of every flow as its rows have it, without the copy that is kept beside them.
const SHAPES_OF_ROWS: &str = "
    with step as (
        select s.*, jsonb_build_object(
            'slug', s.slug, 'kind', s.kind,
            'over', case when s.over_step = -1 then 'input' else o.slug end,
            'needs', (select coalesce(jsonb_agg(d.slug order by n.ord), '[]') from unnest(s.needs) with ordinality n(at, ord)
                      join flow.step d on d.flow_id = s.flow_id and d.step_index = n.at),
            'after', (select coalesce(jsonb_agg(d.slug order by n.ord), '[]') from unnest(s.after) with ordinality n(at, ord)
                      join flow.step d on d.flow_id = s.flow_id and d.step_index = n.at),
            'when_unmet', s.when_unmet, 'when_exhausted', s.when_exhausted, 'queue', null)
            || case when s.run_if is null then '{}' else jsonb_build_object('run_if', s.run_if) end
            || case when s.run_unless is null then '{}' else jsonb_build_object('run_unless', s.run_unless) end as shape
        from flow.step s left join flow.step o on o.flow_id = s.flow_id and o.step_index = s.over_step
    )
    select f.slug, f.shape, jsonb_build_object('slug', f.slug, 'queue_mode', f.queue_mode, 'steps',
                                               jsonb_agg(s.shape order by s.step_index)) as of_rows
    from flow.flow f join step s on s.flow_id = f.flow_id group by f.flow_id";

fn runner(seed: u64) -> TestRunner {
    TestRunner::new(Config { rng_seed: RngSeed::Fixed(seed), ..Config::default() })
}

/// A declared step: its number, and the numbers of the steps that it maps over, needs and comes after.
#[derive(Debug, Clone)]
struct Declared {
    number: usize,
    over: Option<usize>,
    needs: Vec<usize>,
    after: Vec<usize>,
}

impl Declared {
    /// Takes a number for each earlier step: what kind of dependency it is, if it is one.
    fn new(number: usize, kinds: &[u8]) -> Self {
        let of = |kind: u8| (0..number).filter(move |other| kinds[*other] == kind);
        let over = of(0).next();
        let needs = of(1).chain(of(0).skip(1)).collect();
        Self { number, over, needs, after: of(2).collect() }
    }

    fn dependencies(&self) -> impl Iterator<Item = usize> {
        self.over.iter().chain(&self.needs).chain(&self.after).copied()
    }

    fn step(&self) -> StepBuilder {
        let name = |number: &usize| format!("s{number}");
        let step = match &self.over {
            Some(over) => StepBuilder::map(name(&self.number), name(over)),
            None => StepBuilder::single(name(&self.number)),
        };
        step.needs(self.needs.iter().map(name)).after(self.after.iter().map(name))
    }
}

/// Steps that depend on steps of lower numbers, declared in any order.
fn declared() -> impl Strategy<Value = Vec<Declared>> {
    vec(vec(0_u8..7, 10), 1..=10)
        .prop_map(|steps| {
            steps.iter().enumerate().map(|(number, kinds)| Declared::new(number, kinds)).collect::<Vec<_>>()
        })
        .prop_shuffle()
}

/// The step order by its own words: at each place the earliest declared step whose dependencies are all placed.
fn in_step_order(declared: &[Declared]) -> Vec<usize> {
    let mut placed = Vec::new();
    while placed.len() < declared.len() {
        let is_ready = |step: &&Declared| {
            !placed.contains(&step.number) && step.dependencies().all(|other| placed.contains(&other))
        };
        placed.push(declared.iter().find(is_ready).unwrap().number);
    }
    placed
}

// D12 D13
#[tokio::test]
async fn steps_stand_and_are_numbered_in_step_order_whatever_the_order_of_declaration() {
    let engine = Engine::new().await;
    let mut runner = runner(12);
    let mut cases: Vec<_> = (0..400).map(|_| declared().new_tree(&mut runner).unwrap().current()).collect();
    let step = |number, needs: &[usize]| Declared { number, over: None, needs: needs.to_vec(), after: vec![] };
    // Declared `c` (needs `a`), `a`, `b`.
    cases.insert(0, vec![step(2, &[0]), step(0, &[]), step(1, &[])]);
    assert_eq!(in_step_order(&cases[0]), [0, 2, 1]);
    for (at, case) in cases.iter().enumerate() {
        let built = FlowBuilder::new(format!("f{at}")).steps(case.iter().map(Declared::step)).build().unwrap();
        let expected: Vec<String> = in_step_order(case).iter().map(|number| format!("s{number}")).collect();
        let slugs: Vec<&String> = built.shape.steps.iter().map(|step| &step.slug).collect();
        assert_eq!(slugs, expected.iter().collect::<Vec<_>>(), "{case:?}");
        if at < 40 {
            engine.try_deploy(&serde_json::to_value(&built).unwrap()).await.unwrap();
            assert_eq!(numbered(&engine, &built.shape.slug).await, (0..).zip(expected).collect::<Vec<_>>());
        }
    }
}

/// The steps of a flow with their numbers, as stored.
async fn numbered(engine: &Engine, slug: &str) -> Vec<(i32, String)> {
    let query = "select s.step_index, s.slug from flow.step s join flow.flow f using (flow_id) where f.slug = $1
                 order by s.step_index";
    sqlx::query_as(query).bind(slug).fetch_all(engine.pool()).await.unwrap()
}

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
struct Line {
    name: String,
    gift: Option<bool>,
}

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
struct Label {
    lines: Vec<Line>,
    weight: f64,
}

/// A flow that says everything there is to say.
struct Full;

/// Sends lines.
///
/// Says everything.
#[flow(input = Vec<Line>, slug = "Full", max_attempts = 9, base_delay = "2s", max_delay = "10m", timeout = "1h")]
impl Full {
    /// Stands last, and is declared first.
    #[step(slug = "Ship", after(audit), run_if = { "pick": [1, 2], "price": 3 }, run_unless = { "price": 0 },
        when_unmet = fail, when_exhausted = skip, max_attempts = 1, base_delay = "1ms", max_delay = "7d",
        timeout = "5s", start_delay = "300s")]
    async fn ship(&self, price: u32, pick: Vec<u32>) -> Result<Option<String>, StepError> {
        Ok(Some(format!("{price} {}", pick.len())))
    }

    #[map(over = input, run_unless = [{ "name": "none", "gift": null }], when_unmet = skip_cascade, start_delay = "0s")]
    async fn pick(&self, item: Line) -> Result<u32, StepError> {
        Ok(item.name.len() as u32)
    }

    #[step]
    async fn audit(&self) -> Result<(), StepError> {
        Ok(())
    }

    #[step(run_if = [{ "gift": true }], when_unmet = fail, base_delay = "3s")]
    async fn price(&self, input: Vec<Line>) -> Result<u32, StepError> {
        Ok(input.len() as u32)
    }

    /// Labels one.
    #[map(over = pick, when_exhausted = skip_cascade, max_delay = "1h")]
    async fn label(&self, item: u32, price: u32) -> Result<Label, StepError> {
        Ok(Label { lines: vec![], weight: f64::from(item * price) })
    }
}

with_step_queues!(FullQueues for Full);

fn full() -> FlowBuilder {
    let second = Duration::from_secs(1);
    FlowBuilder::new("Full")
        .note("Sends lines.\n\nSays everything.")
        .input::<Vec<Line>>()
        .max_attempts(9)
        .base_delay(2 * second)
        .max_delay(600 * second)
        .timeout(3_600 * second)
        .step(
            StepBuilder::single("Ship")
                .needs(["price", "pick"])
                .after(["audit"])
                .run_if(json!({ "price": 3, "pick": [1, 2] }))
                .run_unless(json!({ "price": 0 }))
                .when_unmet(Mode::Fail)
                .when_exhausted(Mode::Skip)
                .max_attempts(1)
                .base_delay(Duration::from_millis(1))
                .max_delay(604_800 * second)
                .timeout(5 * second)
                .start_delay(300 * second)
                .output::<Option<String>>()
                .note("Stands last, and is declared first."),
        )
        .step(
            StepBuilder::map("pick", "input")
                .run_unless(json!([{ "gift": null, "name": "none" }]))
                .when_unmet(Mode::SkipCascade)
                .start_delay(Duration::ZERO)
                .output::<u32>(),
        )
        .step(StepBuilder::single("audit").output::<()>())
        .step(
            StepBuilder::single("price")
                .run_if(json!([{ "gift": true }]))
                .when_unmet(Mode::Fail)
                .base_delay(3 * second)
                .output::<u32>(),
        )
        .step(
            StepBuilder::map("label", "pick")
                .needs(["price"])
                .when_exhausted(Mode::SkipCascade)
                .max_delay(3_600 * second)
                .output::<Label>()
                .note("Labels one."),
        )
}

/// A flow that says as little as can be said.
struct Bare;

#[flow(input = u8)]
impl Bare {
    #[step]
    async fn only(&self) -> Result<u8, StepError> {
        Ok(1)
    }
}

fn bare() -> FlowBuilder {
    FlowBuilder::new("bare").input::<u8>().step(StepBuilder::single("only").output::<u8>())
}

// D20
#[test]
fn macro_and_builder_write_the_same_bytes_which_read_back_as_they_were() {
    let queued = full().queue_mode(QueueMode::StepQueues);
    for (made, built) in
        [(Full::definition(), full()), (Bare::definition(), bare()), (FullQueues::definition(), queued)]
    {
        let built = built.build().unwrap();
        let bytes = serde_json::to_string(&built).unwrap();
        assert_eq!(serde_json::to_string(&made).unwrap(), bytes);
        assert_eq!(serde_json::from_str::<FlowDefinition>(&bytes).unwrap(), built);
    }
}

/// The steps of an enum as their slugs, each at its index.
fn of_enum<S: StepEnum>() -> Vec<(i32, String)> {
    S::ALL.iter().map(|step| (i32::try_from(step.index()).unwrap(), step.as_str().to_owned())).collect()
}

// D13
#[tokio::test]
async fn definition_database_and_step_enum_number_the_steps_alike() {
    let engine = Engine::new().await;
    for (definition, of_enum) in
        [(Bare::definition(), of_enum::<BareStep>()), (Full::definition(), of_enum::<FullStep>())]
    {
        engine.try_deploy(&serde_json::to_value(&definition).unwrap()).await.unwrap();
        let slugs = definition.shape.steps.iter().map(|step| step.slug.clone());
        let defined: Vec<_> = (0..).zip(slugs).collect();
        assert_eq!(of_enum, defined);
        assert_eq!(numbered(&engine, &definition.shape.slug).await, defined);
    }
    let expected = ["pick", "audit", "price", "Ship", "label"];
    assert_eq!(of_enum::<FullStep>(), (0..).zip(expected.map(str::to_owned)).collect::<Vec<_>>());
    assert_eq!((Full::PICK.index(), Full::LABEL.index()), (0, 4), "keys have the numbers too");
}

// P9
#[tokio::test]
async fn two_hundred_generated_shapes_read_back_as_they_were_sent() {
    let engine = Engine::new().await;
    let mut runner = runner(9);
    let mut sent = Vec::new();
    while sent.len() < 200 {
        let mut definition = crate::definition::definition().new_tree(&mut runner).unwrap().current();
        definition["shape"]["slug"] = format!("f{}", sent.len()).into();
        if serde_json::from_value::<FlowDefinition>(definition.clone()).unwrap().validate().is_ok() {
            engine.try_deploy(&definition).await.unwrap();
            sent.push(definition["shape"].clone());
        }
    }
    for definition in [Full::definition(), Bare::definition()] {
        let definition = serde_json::to_value(&definition).unwrap();
        engine.try_deploy(&definition).await.unwrap();
        sent.push(definition["shape"].clone());
    }
    let stored: Vec<(String, Value, Value)> = sqlx::query_as(SHAPES_OF_ROWS).fetch_all(engine.pool()).await.unwrap();
    assert_eq!(stored.len(), 202);
    for shape in &sent {
        let (_, copy, of_rows) = stored.iter().find(|(slug, ..)| *slug == shape["slug"]).unwrap();
        assert_eq!(copy, shape);
        assert_eq!(of_rows, shape);
    }
    let with = |name: &str| sent.iter().filter(|shape| shape.to_string().contains(name)).count();
    for name in ["\"map\"", "run_if", "run_unless", "step_queues", "skip_cascade"] {
        assert!(with(name) >= 10, "{name}: {}", with(name));
    }
}

/// The differences that the database finds between two shapes.
async fn differences(engine: &Engine, stored: &Value, sent: &Value) -> Vec<String> {
    let query = "select flow.shape_differences($1, $2)";
    sqlx::query_scalar(query).bind(stored).bind(sent).fetch_one(engine.pool()).await.unwrap()
}

/// The differences of two shapes are exactly `lines`, in which `{old}` and `{new}` stand for what both have.
async fn check_differences(engine: &Engine, shapes: [&Value; 2], lines: &[(&str, &str, &str)]) {
    let text = |what: &str, stored: &str, sent: &str| format!("{what}: stored {stored}, sent {sent}");
    let there: Vec<String> = lines.iter().map(|(what, old, new)| text(what, old, new)).collect();
    let back: Vec<String> = lines.iter().map(|(what, old, new)| text(what, new, old)).collect();
    assert_eq!(differences(engine, shapes[0], shapes[1]).await, there);
    assert_eq!(differences(engine, shapes[1], shapes[0]).await, back);
}

// P5
#[tokio::test]
async fn each_difference_by_itself_is_one_entry_in_both_directions() {
    let engine = Engine::new().await;
    let base = || Graph::new("two").single("a", &[]).single("b", &[]);
    let single = |needs: &[&str]| base().single("c", needs);
    let map = |over: &str| base().map("c", over, &[]);
    let conditional = |field: &str, pattern: Value| single(&["a"]).with(field, pattern).with("when_unmet", "skip");
    let pairs = [
        (
            single(&[]),
            base().map("c", "a", &[]),
            vec![("step 2 \"c\", kind", "\"single\"", "\"map\""), ("step 2 \"c\", over", "null", "\"a\"")],
        ),
        (map("input"), map("b"), vec![("step 2 \"c\", over", "\"input\"", "\"b\"")]),
        (map("a"), map("b"), vec![("step 2 \"c\", over", "\"a\"", "\"b\"")]),
        (single(&["a"]), single(&["a", "b"]), vec![("step 2 \"c\", needs", "[\"a\"]", "[\"a\", \"b\"]")]),
        (single(&["a"]), single(&["b"]), vec![("step 2 \"c\", needs", "[\"a\"]", "[\"b\"]")]),
        (single(&["a"]).with("after", json!(["b"])), single(&["a"]), vec![("step 2 \"c\", after", "[\"b\"]", "[]")]),
        (
            conditional("run_if", json!({"a": 1})),
            conditional("run_if", json!({"a": 2})),
            vec![("step 2 \"c\", run_if", "{\"a\": 1}", "{\"a\": 2}")],
        ),
        (
            conditional("run_unless", json!({"a": [1]})),
            conditional("run_unless", json!({"a": []})),
            vec![("step 2 \"c\", run_unless", "{\"a\": [1]}", "{\"a\": []}")],
        ),
        (
            conditional("run_if", json!({})).with("when_unmet", "skip_cascade"),
            conditional("run_if", json!({})).with("when_unmet", "fail"),
            vec![("step 2 \"c\", when_unmet", "\"skip_cascade\"", "\"fail\"")],
        ),
        (
            single(&[]).with("when_exhausted", "skip_cascade"),
            single(&[]),
            vec![("step 2 \"c\", when_exhausted", "\"skip_cascade\"", "\"fail\"")],
        ),
        (single(&[]), single(&[]).step_queues(), vec![("queue_mode", "\"plain\"", "\"step_queues\"")]),
        (
            base(),
            base().single("c", &[]).single("d", &[]).single("e", &[]),
            vec![
                ("number of steps", "2", "5"),
                ("step 2", "nothing", "\"c\""),
                ("step 3", "nothing", "\"d\""),
                ("step 4", "nothing", "\"e\""),
            ],
        ),
    ];
    for (stored, sent, lines) in &pairs {
        check_differences(&engine, [&stored.shape(), &sent.shape()], lines).await;
    }

    // A slug names its line, so that the two directions are no mirror images.
    let (c, d) = (single(&[]).shape(), base().single("d", &[]).shape());
    assert_eq!(differences(&engine, &c, &d).await, ["step 2 \"c\", slug: stored \"c\", sent \"d\""]);
    let capital = base().single("C", &[]).shape();
    assert_eq!(differences(&engine, &c, &capital).await, ["step 2 \"c\", slug: stored \"c\", sent \"C\""]);

    // Routes cannot be deployed yet; what compares shapes knows them all the same.
    let route = |queue: &str| {
        let mut shape = single(&[]).shape();
        shape["queue_mode"] = "routed".into();
        shape["steps"][1]["queue"] = queue.into();
        shape
    };
    let line = ("step 1 \"b\", queue", "\"stock\"", "\"carriers\"");
    check_differences(&engine, [&route("stock"), &route("carriers")], &[line]).await;
}

mod one_order {
    use super::*;

    pub(super) struct Mixed;

    #[flow(input = u32, slug = "mixed")]
    impl Mixed {
        #[step(schema = any)]
        async fn first(&self) -> Result<u32, StepError> {
            Ok(1)
        }

        #[step(schema = any)]
        async fn second(&self) -> Result<u32, StepError> {
            Ok(2)
        }

        #[step(run_if = { "first": { "x": 1, "y": [{ "a": 1, "b": 2 }] }, "second": {} })]
        async fn join(&self, first: u32, input: u32, second: u32) -> Result<u32, StepError> {
            Ok(first + input + second)
        }
    }
}

mod another_order {
    use super::*;

    pub(super) struct Mixed;

    #[flow(input = u32, slug = "mixed")]
    impl Mixed {
        #[step(schema = any)]
        async fn first(&self) -> Result<u32, StepError> {
            Ok(1)
        }

        #[step(schema = any)]
        async fn second(&self) -> Result<u32, StepError> {
            Ok(2)
        }

        #[step(run_if = { "second": {}, "first": { "y": [{ "b": 2, "a": 1 }], "x": 1 } })]
        async fn join(&self, second: u32, first: u32, input: u32) -> Result<u32, StepError> {
            Ok(first + input + second)
        }
    }
}

// P6
#[tokio::test]
async fn neither_the_order_of_parameters_nor_that_of_keys_is_part_of_a_shape() {
    let engine = Engine::new().await;
    let built = |needs: [&str; 2], after: [&str; 2], condition: &str| {
        let pattern: Value = serde_json::from_str(condition).unwrap();
        let graph = FlowBuilder::new("built").steps(["a", "b", "c", "d"].map(StepBuilder::single));
        graph.step(StepBuilder::single("e").needs(needs).after(after).run_unless(pattern)).build().unwrap()
    };
    let pairs = [
        (one_order::Mixed::definition(), another_order::Mixed::definition()),
        (
            built(["a", "b"], ["c", "d"], r#"{"a": {"x": 1, "y": 2}, "b": 1}"#),
            built(["b", "a"], ["d", "c"], r#"{"b": 1, "a": {"y": 2, "x": 1}}"#),
        ),
    ];
    engine.run_sql("select flow.set_setting('environment', '\"production\"')").await;
    for (stored, sent) in pairs.map(|pair| (json!(pair.0), json!(pair.1))) {
        assert_eq!(engine.try_deploy(&stored).await.unwrap(), json!({"result": "created"}));
        assert_eq!(engine.try_deploy(&sent).await.unwrap(), json!({"result": "verified"}));
    }
}

// P6
#[tokio::test]
async fn the_same_steps_in_another_step_order_are_a_mismatch() {
    let engine = Engine::new().await;
    engine.run_sql("select flow.set_setting('environment', '\"production\"')").await;
    let graph = |order: [&str; 3]| {
        let steps = order.into_iter().fold(Graph::new("order"), |graph, slug| graph.single(slug, &[]));
        steps.single("last", &[]).with("after", json!(order)).definition()
    };
    engine.try_deploy(&graph(["a", "b", "c"])).await.unwrap();
    let answer = engine.try_deploy(&graph(["a", "c", "b"])).await.unwrap();
    assert_eq!(answer["result"], "mismatch");
    let lines = json!([
        "step 1 \"b\", slug: stored \"b\", sent \"c\"",
        "step 2 \"c\", slug: stored \"c\", sent \"b\"",
        "step 3 \"last\", after: stored [\"a\", \"b\", \"c\"], sent [\"a\", \"c\", \"b\"]"
    ]);
    assert_eq!(answer["differences"], lines);
}
