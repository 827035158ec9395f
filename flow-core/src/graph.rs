//! A flow as a picture, in the two languages that tools read.

mod dot;
mod mermaid;

use std::collections::HashMap;

use crate::{
    definition::{FlowDefinition, StepShape},
    validate::DependencyRole,
};

/// The graph of a flow, to be drawn: each step once, each edge once, order-only edges dashed.
///
/// ```
/// use flow_core::builder::{FlowBuilder, StepBuilder};
///
/// let graph = FlowBuilder::new("greet").step(StepBuilder::single("hello")).build()?.graph();
/// assert!(graph.mermaid().contains("hello"));
/// # Ok::<(), flow_core::validate::DefinitionErrors>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FlowGraph {
    title: String,
    note: Option<String>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

#[derive(Debug, Clone, PartialEq)]
struct Node {
    slug: String,
    is_map: bool,
    has_condition: bool,
    note: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
struct Edge {
    from: usize,
    to: usize,
    role: DependencyRole,
}

impl FlowDefinition {
    /// Returns the graph of this definition.
    pub fn graph(&self) -> FlowGraph {
        let steps = &self.shape.steps;
        let places: HashMap<&str, usize> =
            steps.iter().enumerate().map(|(place, step)| (step.slug.as_str(), place)).collect();
        let edges = steps.iter().enumerate().flat_map(|(to, step)| {
            let from = |slug| places.get(slug).copied();
            step.dependencies().filter_map(move |(role, slug)| Some(Edge { from: from(slug)?, to, role }))
        });
        FlowGraph {
            title: self.shape.slug.clone(),
            note: self.notes.flow.clone(),
            edges: edges.collect(),
            nodes: steps.iter().enumerate().map(|(place, step)| node(step, self.notes.steps.get(place))).collect(),
        }
    }
}

fn node(step: &StepShape, note: Option<&Option<String>>) -> Node {
    Node {
        slug: step.slug.clone(),
        is_map: step.over.is_some(),
        has_condition: step.run_if.is_some() || step.run_unless.is_some(),
        note: note.cloned().flatten(),
    }
}

/// The first line of a note; a node of the picture has no room for more.
fn first_line(note: &str) -> &str {
    note.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
