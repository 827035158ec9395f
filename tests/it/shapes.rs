//! Shapes: the order and numbers of steps, the same from macro, builder and database, and each difference that a deployment
//! finds.

mod differences;
mod written;

use flow_runtime::{FlowBuilder, StepBuilder, definition::FlowDefinition, prelude::*};
use flow_tests::support::Engine;
use proptest::{
    collection::vec,
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngSeed, TestRunner},
};
use serde_json::Value;

use written::{Bare, Full};

/// The shape of every flow as the engine reads it and as its rows have it.
const SHAPES_OF_ROWS: &str = include_str!("../sql/shapes_of_rows.sql");

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

// P9
#[tokio::test]
async fn two_hundred_generated_shapes_read_back_as_they_were_sent() {
    let engine = Engine::of_rows().await;
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
        let (_, read, of_rows) = stored.iter().find(|(slug, ..)| *slug == shape["slug"]).unwrap();
        assert_eq!(read, shape);
        assert_eq!(of_rows, shape);
    }
    let with = |name: &str| sent.iter().filter(|shape| shape.to_string().contains(name)).count();
    for name in ["\"map\"", "run_if", "run_unless", "step_queues", "skip_cascade"] {
        assert!(with(name) >= 10, "{name}: {}", with(name));
    }
}
