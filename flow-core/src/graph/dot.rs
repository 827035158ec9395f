//! The picture in Graphviz's language.

use std::fmt::{self, Write as _};

use super::{FlowGraph, first_line};
use crate::validate::DependencyRole;

impl FlowGraph {
    /// The flow as a Graphviz digraph. A map is a stack, a step with a condition a hexagon, an order-only edge dashed.
    pub fn dot(&self) -> String {
        let mut text = String::new();
        // Writing into a `String` cannot fail.
        let _ = self.write_dot(&mut text);
        text
    }

    fn write_dot(&self, text: &mut String) -> fmt::Result {
        writeln!(text, "digraph {} {{", quoted(&self.title))?;
        if let Some(note) = &self.note {
            writeln!(text, "    // {}", first_line(note))?;
        }
        writeln!(text, "    node [shape=box];")?;
        for node in &self.nodes {
            let shape = match (node.is_map, node.has_condition) {
                (true, _) => Some("shape=box3d".to_owned()),
                (false, true) => Some("shape=hexagon".to_owned()),
                (false, false) => None,
            };
            let note = node.note.as_deref().map(|note| format!("tooltip={}", quoted(first_line(note))));
            let attributes: Vec<String> = shape.into_iter().chain(note).collect();
            match attributes.is_empty() {
                true => writeln!(text, "    {};", quoted(&node.slug))?,
                false => writeln!(text, "    {} [{}];", quoted(&node.slug), attributes.join(", "))?,
            }
        }
        for edge in &self.edges {
            let style = match edge.role {
                DependencyRole::Needs => "",
                DependencyRole::Over => " [label=each]",
                DependencyRole::After => " [style=dashed]",
            };
            let [from, to] = [edge.from, edge.to].map(|place| quoted(&self.nodes[place].slug));
            writeln!(text, "    {from} -> {to}{style};")?;
        }
        writeln!(text, "}}")
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
