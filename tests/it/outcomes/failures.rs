//! Failures: retried, final, skipped, cascading, and those that fail the run.

use std::time::Duration;

use flow_runtime::{
    FlowBuilder, JsonFlow, JsonHandler, StepBuilder,
    definition::Mode::{Skip, SkipCascade},
    prelude::*,
};
use serde_json::{Value, json};

use super::{Plan, act, act_json, check};

/// Steps that fail in each mode: `soft` and `each` are skipped, `wide` takes what is behind it along, `hard` fails the run.
struct Failing;

#[flow(input = Plan, base_delay = "0s", max_attempts = 2)]
impl Failing {
    #[step(when_exhausted = skip)]
    async fn soft(&self, input: Plan, ctx: &StepContext) -> Result<u32, StepError> {
        act(&input, "soft", ctx.attempt())
    }

    #[step(when_exhausted = skip_cascade)]
    async fn wide(&self, input: Plan, ctx: &StepContext) -> Result<u32, StepError> {
        act(&input, "wide", ctx.attempt())
    }

    #[step]
    async fn list(&self) -> Result<Vec<String>, StepError> {
        Ok(["x", "y", "z"].map(str::to_owned).into())
    }

    #[map(over = list, when_exhausted = skip, max_attempts = 1)]
    async fn each(&self, item: String, input: Plan, ctx: &StepContext) -> Result<u32, StepError> {
        act(&input, &item, ctx.attempt())
    }

    #[step]
    async fn after_soft(&self, soft: Option<u32>, each: Option<Vec<u32>>) -> Result<Value, StepError> {
        Ok(json!([soft, each]))
    }

    #[step]
    async fn after_wide(&self, wide: u32) -> Result<u32, StepError> {
        Ok(wide)
    }

    #[step]
    async fn behind(&self, after_wide: u32) -> Result<u32, StepError> {
        Ok(after_wide)
    }

    #[step]
    async fn hard(&self, after_soft: Value, input: Plan, ctx: &StepContext) -> Result<u32, StepError> {
        assert!(after_soft.is_array(), "the dependency arrives");
        act(&input, "hard", ctx.attempt())
    }

    #[step]
    async fn last(&self, hard: u32) -> Result<u32, StepError> {
        Ok(hard)
    }
}

fn failing() -> JsonFlow {
    let single = StepBuilder::single;
    let graph = FlowBuilder::new("failing")
        .base_delay(Duration::ZERO)
        .max_attempts(2)
        .step(single("soft").when_exhausted(Skip))
        .step(single("wide").when_exhausted(SkipCascade))
        .step(single("list"))
        .step(StepBuilder::map("each", "list").when_exhausted(Skip).max_attempts(1))
        .step(single("after_soft").needs(["soft", "each"]))
        .step(single("after_wide").needs(["wide"]))
        .step(single("behind").needs(["after_wide"]))
        .step(single("hard").needs(["after_soft"]))
        .step(single("last").needs(["hard"]));
    JsonFlow::builder(graph)
        .handler("list", JsonHandler::new(async |_| Ok(json!(["x", "y", "z"]))))
        .handler("each", JsonHandler::new(async |call| act_json(&call, call.item().as_str().unwrap_or_default())))
        .handler("after_soft", JsonHandler::new(async |call| Ok(json!([call.output("soft"), call.output("each")]))))
        .handler("after_wide", JsonHandler::new(async |call| Ok(call.output("wide").clone())))
        .handler("behind", JsonHandler::new(async |call| Ok(call.output("after_wide").clone())))
        .handler("last", JsonHandler::new(async |call| Ok(call.output("hard").clone())))
        .other_steps(JsonHandler::new(async |call| act_json(&call, call.ctx().step())))
        .build()
        .unwrap()
}

// W11
#[tokio::test]
async fn failures_come_out_alike() {
    let cases = [
        (
            json!({"soft": "once"}),
            "completed
             soft=completed completed/2
             wide=completed completed/1
             list=completed completed/1
             each=completed completed/1 completed/1 completed/1
             after_soft=completed completed/1
             after_wide=completed completed/1
             behind=completed completed/1
             hard=completed completed/1
             last=completed completed/1
             {\"last\": 1, \"behind\": 1}",
        ),
        (
            json!({"soft": "error", "wide": "panic", "y": "error", "hard": "once"}),
            "completed
             soft=skipped handler_failed \"soft fails\" failed/2
             wide=skipped handler_failed \"the handler panicked: wide panics\" failed/2
             list=completed completed/1
             each=skipped handler_failed \"y fails\" completed/1 failed/1 skipped/0
             after_soft=completed completed/1
             after_wide=skipped dependency_skipped
             behind=skipped dependency_skipped
             hard=completed completed/2
             last=completed completed/1
             {\"last\": 2}",
        ),
        (
            json!({"wide": "permanent", "hard": "permanent"}),
            "failed hard hard is wrong
             soft=completed completed/1
             wide=skipped handler_failed \"wide is wrong\" failed/1
             list=completed completed/1
             each=completed completed/1 completed/1 completed/1
             after_soft=completed completed/1
             after_wide=skipped dependency_skipped
             behind=skipped dependency_skipped
             hard=failed \"hard is wrong\" failed/1
             last=cancelled",
        ),
        (
            json!({"soft": "permanent", "hard": "panic"}),
            "failed hard the handler panicked: hard panics
             soft=skipped handler_failed \"soft is wrong\" failed/1
             wide=completed completed/1
             list=completed completed/1
             each=completed completed/1 completed/1 completed/1
             after_soft=completed completed/1
             after_wide=completed completed/1
             behind=completed completed/1
             hard=failed \"the handler panicked: hard panics\" failed/2
             last=cancelled",
        ),
    ];
    check("failing", |worker| worker.flow(Failing), &cases).await;
    check("failing", |worker| worker.json(failing()), &cases).await;
}

/// A map whose failure fails the run.
struct Strict;

#[flow(input = Vec<String>, base_delay = "0s", max_attempts = 2)]
impl Strict {
    #[map(over = input)]
    async fn each(&self, item: String, ctx: &StepContext) -> Result<u32, StepError> {
        act(&Plan::from([("bad".to_owned(), "error".to_owned())]), &item, ctx.attempt())
    }

    #[step]
    async fn sum(&self, each: Vec<u32>) -> Result<u32, StepError> {
        Ok(each.iter().sum())
    }
}

// W11
#[tokio::test]
async fn a_maps_failure_comes_out_alike() {
    let cases = [
        (
            json!(["a", "b", "c", "d", "bad"]),
            "failed each bad fails
             each=failed \"bad fails\" completed/1 completed/1 completed/1 completed/1 failed/2
             sum=cancelled",
        ),
        (
            json!(["a", "b"]),
            "completed
             each=completed completed/1 completed/1
             sum=completed completed/1
             {\"sum\": 2}",
        ),
    ];
    check("strict", |worker| worker.flow(Strict), &cases).await;
    let graph = FlowBuilder::new("strict").base_delay(Duration::ZERO).max_attempts(2);
    let graph = graph.step(StepBuilder::map("each", "input")).step(StepBuilder::single("sum").needs(["each"]));
    let each = JsonHandler::new(async |call| match call.item().as_str() {
        Some("bad") => Err(StepError::new("bad fails")),
        _ => Ok(json!(call.ctx().attempt())),
    });
    let sum = JsonHandler::new(async |call| {
        let each = call.output("each").as_array().cloned().unwrap_or_default();
        Ok(json!(each.iter().filter_map(Value::as_u64).sum::<u64>()))
    });
    let flow = JsonFlow::builder(graph).handler("each", each).handler("sum", sum).build().unwrap();
    check("strict", |worker| worker.json(flow), &cases).await;
}
