//! Pictures of flows.

use serde_json::json;

use crate::draft::{FlowDraft, StepDraft};

/// A flow with each kind of step and of edge.
fn shop() -> FlowDraft {
    let reserve =
        StepDraft { note: Some("Takes \"all\" off the shelf.\nOr none.".into()), ..StepDraft::single("reserve") };
    let wrap = StepDraft { run_if: Some(json!({"gift": true})), ..StepDraft::single("wrap") };
    let ship = StepDraft { needs: vec!["pick".into()], after: vec!["wrap".into()], ..StepDraft::single("ship") };
    let steps = vec![reserve, StepDraft::map("pick", "reserve"), wrap, ship];
    FlowDraft { steps, note: Some("Ships orders.".into()), ..FlowDraft::new("shop") }
}

// D22, D25
#[test]
fn mermaid_shows_each_step_and_edge_once() {
    let text = shop().assemble().expect("legal").graph().mermaid();
    let expected = "\
---
title: shop
---
flowchart TD
    %% Ships orders.
    s0[\"reserve<br/>Takes &quot;all&quot; off the shelf.\"]
    s1[[\"pick\"]]
    s2{{\"wrap\"}}
    s3[\"ship\"]
    s0 -->|each| s1
    s1 --> s3
    s2 -.-> s3
";
    assert_eq!(text, expected);
}

// D22, D25
#[test]
fn dot_shows_each_step_and_edge_once() {
    let text = shop().assemble().expect("legal").graph().dot();
    let expected = "\
digraph \"shop\" {
    // Ships orders.
    node [shape=box];
    \"reserve\" [tooltip=\"Takes \\\"all\\\" off the shelf.\"];
    \"pick\" [shape=box3d];
    \"wrap\" [shape=hexagon];
    \"ship\";
    \"reserve\" -> \"pick\" [label=each];
    \"pick\" -> \"ship\";
    \"wrap\" -> \"ship\" [style=dashed];
}
";
    assert_eq!(text, expected);
}
