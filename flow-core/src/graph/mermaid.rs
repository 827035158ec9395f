//! The picture in Mermaid's language, which Markdown viewers draw.

use std::fmt::{self, Write as _};

use super::{FlowGraph, first_line};
use crate::validate::DependencyRole;

impl FlowGraph {
    /// The flow as a Mermaid flowchart. A map is a stack, a step with a condition a hexagon, an order-only edge dashed.
    pub fn mermaid(&self) -> String {
        let mut text = String::new();
        // Writing into a `String` cannot fail.
        let _ = self.write_mermaid(&mut text);
        text
    }

    fn write_mermaid(&self, text: &mut String) -> fmt::Result {
        writeln!(text, "---\ntitle: {}\n---\nflowchart TD", self.title)?;
        if let Some(note) = &self.note {
            writeln!(text, "    %% {}", first_line(note))?;
        }
        for (place, node) in self.nodes.iter().enumerate() {
            let (open, close) = match (node.is_map, node.has_condition) {
                (true, _) => ("[[", "]]"),
                (false, true) => ("{{", "}}"),
                (false, false) => ("[", "]"),
            };
            let label = match &node.note {
                Some(note) => format!("{}<br/>{}", node.slug, escaped(first_line(note))),
                None => node.slug.clone(),
            };
            writeln!(text, "    s{place}{open}\"{label}\"{close}")?;
        }
        for edge in &self.edges {
            let arrow = match edge.role {
                DependencyRole::Needs => "-->",
                DependencyRole::Over => "-->|each|",
                DependencyRole::After => "-.->",
            };
            writeln!(text, "    s{} {arrow} s{}", edge.from, edge.to)?;
        }
        Ok(())
    }
}

/// The text without the characters that Mermaid would read as markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;").replace('`', "'")
}
