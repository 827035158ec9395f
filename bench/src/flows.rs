//! The flows that are measured; their handlers pass on what they get.

use std::convert::Infallible;

use flow_runtime::{FlowBuilder, JsonFlow, JsonHandler, StepBuilder, prelude::*};
use serde_json::json;

/// Three steps in a row.
pub(crate) struct Chain;

#[flow(input = u32)]
impl Chain {
    #[step]
    async fn first(&self, input: u32) -> Result<u32, Infallible> {
        Ok(input)
    }

    #[step]
    async fn second(&self, first: u32) -> Result<u32, Infallible> {
        Ok(first)
    }

    #[step]
    async fn third(&self, second: u32) -> Result<u32, Infallible> {
        Ok(second)
    }
}

/// One step: what other systems call a job.
pub(crate) struct Single;

#[flow(input = u32)]
impl Single {
    #[step]
    async fn only(&self, input: u32) -> Result<u32, Infallible> {
        Ok(input)
    }
}

/// One step, two beside each other, one that joins them.
pub(crate) struct Diamond;

#[flow(input = u32)]
impl Diamond {
    #[step]
    async fn top(&self, input: u32) -> Result<u32, Infallible> {
        Ok(input)
    }

    #[step]
    async fn left(&self, top: u32) -> Result<u32, Infallible> {
        Ok(top)
    }

    #[step]
    async fn right(&self, top: u32) -> Result<u32, Infallible> {
        Ok(top)
    }

    #[step]
    async fn bottom(&self, left: u32, right: u32) -> Result<u32, Infallible> {
        Ok(left + right)
    }
}

/// One task for each element.
pub(crate) struct Map;

#[flow(input = Vec<u32>)]
impl Map {
    #[map(over = input)]
    async fn each(&self, item: u32) -> Result<u32, Infallible> {
        Ok(item)
    }
}

/// Three steps in a row, each of which passes a text on.
pub(crate) struct Payload;

#[flow(input = String)]
impl Payload {
    #[step]
    async fn one(&self, input: String) -> Result<String, Infallible> {
        Ok(input)
    }

    #[step]
    async fn two(&self, one: String) -> Result<String, Infallible> {
        Ok(one)
    }

    #[step]
    async fn three(&self, two: String) -> Result<String, Infallible> {
        Ok(two)
    }
}

/// A step, so many beside each other, and one that joins them.
pub(crate) fn wide(ways: usize) -> anyhow::Result<JsonFlow> {
    let slugs: Vec<String> = (0..ways).map(|way| format!("way{way}")).collect();
    let graph = FlowBuilder::new("wide")
        .step(StepBuilder::single("top"))
        .steps(slugs.iter().map(|slug| StepBuilder::single(slug).needs(["top"])))
        .step(StepBuilder::single("join").needs(slugs));
    nothing(graph)
}

/// One of several flows that run side by side: by turns a chain, a diamond, and a map.
pub(crate) fn mixed(at: usize) -> anyhow::Result<JsonFlow> {
    let graph = FlowBuilder::new(format!("mixed{at}"));
    nothing(match at % 3 {
        0 => graph
            .step(StepBuilder::single("a"))
            .step(StepBuilder::single("b").needs(["a"]))
            .step(StepBuilder::single("c").needs(["b"])),
        1 => graph
            .step(StepBuilder::single("a"))
            .step(StepBuilder::single("b").needs(["a"]))
            .step(StepBuilder::single("c").needs(["a"]))
            .step(StepBuilder::single("d").needs(["b", "c"])),
        _ => graph.step(StepBuilder::map("a", "input")).step(StepBuilder::single("b").needs(["a"])),
    })
}

fn nothing(graph: FlowBuilder) -> anyhow::Result<JsonFlow> {
    Ok(JsonFlow::builder(graph).other_steps(JsonHandler::new(async |_| Ok(json!(1))).without_input()).build()?)
}
