//! Checks on random graphs that the macro and flow-core find the same order, edges and names of queues.

use std::fmt::Write as _;

use flow_core::{
    builder::{FlowBuilder, StepBuilder},
    definition::{FlowDefinition, StepShape},
    queue_name::QueueName,
};
use proc_macro2::TokenStream;
use proptest::{collection::vec, prelude::*};
use quote::quote;

use crate::{
    diag::Diag,
    model::{self, Flow, MapSource, Step},
    parse, validate,
};

/// A step of a random graph: its source, needs and order-only dependencies, by number.
#[derive(Debug, Clone)]
struct Node {
    /// The source: `None` in a single step, 0 for the run's input, else the number of a step plus one.
    over: Option<usize>,
    needs: Vec<usize>,
    after: Vec<usize>,
}

/// Steps whose dependencies have lower numbers, declared in a random order.
fn graphs() -> impl Strategy<Value = Vec<(usize, Node)>> {
    let node = (any::<bool>(), any::<u8>(), vec(any::<u8>(), 0..4), vec(any::<u8>(), 0..3));
    vec(node, 1..12)
        .prop_map(|drawn| {
            let nodes = drawn.into_iter().enumerate();
            nodes.map(|(number, (is_map, over, needs, after))| draw(number, is_map, over, &needs, &after)).collect()
        })
        .prop_flat_map(|nodes: Vec<Node>| Just(nodes.into_iter().enumerate().collect::<Vec<_>>()).prop_shuffle())
}

/// Keeps of the drawn numbers what makes a legal step.
fn draw(number: usize, is_map: bool, over: u8, needs: &[u8], after: &[u8]) -> Node {
    let over = is_map.then(|| usize::from(over) % (number + 1));
    let mut taken: Vec<usize> = over.and_then(|over| over.checked_sub(1)).into_iter().collect();
    let mut distinct = |drawn: &[u8]| -> Vec<usize> {
        let below = drawn.iter().filter(|_| number > 0).map(|&drawn| usize::from(drawn) % number);
        below
            .filter(|other| {
                let is_new = !taken.contains(other);
                taken.push(*other);
                is_new
            })
            .collect()
    };
    Node { over, needs: distinct(needs), after: distinct(after) }
}

fn name(number: usize) -> String {
    format!("step_{number}x")
}

fn source(over: usize) -> String {
    over.checked_sub(1).map_or_else(|| "input".to_owned(), name)
}

/// The block under `#[flow]`, as a user would write it.
fn written(graph: &[(usize, Node)]) -> TokenStream {
    let mut block = String::from("impl Shop {");
    for (number, node) in graph {
        let mut options: Vec<String> = node.over.map(|over| format!("over = {}", source(over))).into_iter().collect();
        if !node.after.is_empty() {
            options.push(format!("after({})", node.after.iter().copied().map(name).collect::<Vec<_>>().join(", ")));
        }
        let marker = if node.over.is_some() { "map" } else { "step" };
        let params: String = node.needs.iter().map(|&needed| format!(", {}: Bytes", name(needed))).collect();
        let (options, name) = (options.join(", "), name(*number));
        // Writing into a `String` cannot fail.
        let _ = write!(block, "#[{marker}({options})] async fn {name}(&self{params}) -> Result<Bytes, E> {{}}");
    }
    block.push('}');
    block.parse().expect("is Rust")
}

fn built(graph: &[(usize, Node)]) -> FlowDefinition {
    let steps = graph.iter().map(|(number, node)| {
        let step = match node.over {
            Some(over) => StepBuilder::map(name(*number), source(over)),
            None => StepBuilder::single(name(*number)),
        };
        step.needs(node.needs.iter().copied().map(name)).after(node.after.iter().copied().map(name))
    });
    FlowBuilder::new("shop").steps(steps).build().expect("legal")
}

fn sorted(slugs: impl Iterator<Item = String>) -> Vec<String> {
    let mut slugs: Vec<String> = slugs.collect();
    slugs.sort();
    slugs
}

fn over_of(flow: &Flow, step: &Step) -> Option<String> {
    step.source.as_ref().map(|source| match source {
        MapSource::Input(_) => "input".to_owned(),
        MapSource::Step(reference) => flow.steps[reference.target.expect("known")].slug.value.clone(),
    })
}

fn assert_equal(flow: &Flow, step: &Step, shape: &StepShape) {
    let slug_of = |target: Option<usize>| flow.steps[target.expect("known")].slug.value.clone();
    assert_eq!((&step.slug.value, step.is_map), (&shape.slug, shape.over.is_some()));
    assert_eq!(over_of(flow, step), shape.over);
    let needs = step.needs().map(|(_, reference)| slug_of(reference.target));
    assert_eq!(sorted(needs), sorted(shape.needs.iter().cloned()));
    let after = step.after.iter().map(|reference| slug_of(reference.target));
    assert_eq!(sorted(after), sorted(shape.after.iter().cloned()));
}

proptest! {
    // D13, D20
    #[test]
    fn both_ways_give_the_same_graph(graph in graphs()) {
        let mut diag = Diag::default();
        let parsed = parse::parse(quote!(input = Vec<u8>), written(&graph), &mut diag).expect("is a block");
        let flow = model::build(&parsed, &mut diag);
        validate::check(&flow, &mut diag);
        prop_assert!(diag.finish().is_ok(), "{:?}", graph);
        let definition = built(&graph);
        prop_assert_eq!(flow.in_order().count(), definition.shape.steps.len());
        for (index, (step, shape)) in flow.in_order().zip(&definition.shape.steps).enumerate() {
            assert_equal(&flow, step, shape);
            let queue = QueueName::of_step(&flow.slug.value, &step.slug.value, index);
            prop_assert_eq!(queue, QueueName::of_step("shop", &shape.slug, index));
        }
    }
}
