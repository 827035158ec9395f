//! Maps: their tasks, outputs and sources, and what is no list.

use flow_runtime::{FlowBuilder, JsonFlow, JsonHandler, StepBuilder, prelude::*};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::check;

/// Maps over the input, a map, a step and a skipped step, and what stands behind them.
struct Maps;

#[flow(input = Vec<Value>)]
impl Maps {
    #[map(over = input)]
    async fn each(&self, item: Value) -> Result<Value, StepError> {
        Ok(item)
    }

    #[map(over = each)]
    async fn again(&self, item: Value) -> Result<Vec<Value>, StepError> {
        Ok(vec![item])
    }

    #[step(run_if = [true])]
    async fn list(&self, input: Vec<Value>) -> Result<Vec<Value>, StepError> {
        Ok(input.into_iter().take(1).collect())
    }

    #[map(over = list)]
    async fn over_list(&self, item: Value, again: Vec<Vec<Value>>) -> Result<(Value, usize), StepError> {
        Ok((item, again.len()))
    }

    #[step]
    async fn count(&self, each: Vec<Value>, over_list: Vec<(Value, usize)>) -> Result<(usize, usize), StepError> {
        Ok((each.len(), over_list.len()))
    }
}

fn length(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

fn maps() -> JsonFlow {
    let graph = FlowBuilder::new("maps")
        .step(StepBuilder::map("each", "input"))
        .step(StepBuilder::map("again", "each"))
        .step(StepBuilder::single("list").run_if(json!([true])))
        .step(StepBuilder::map("over_list", "list").needs(["again"]))
        .step(StepBuilder::single("count").needs(["each", "over_list"]));
    JsonFlow::builder(graph)
        .handler("each", JsonHandler::new(async |call| Ok(call.item().clone())))
        .handler("again", JsonHandler::new(async |call| Ok(json!([call.item()]))))
        .handler("list", JsonHandler::new(async |call| Ok(json!([call.input()[0]]))))
        .handler("over_list", JsonHandler::new(async |call| Ok(json!([call.item(), length(call.output("again"))]))))
        .handler(
            "count",
            JsonHandler::new(async |call| Ok(json!([length(call.output("each")), length(call.output("over_list"))]))),
        )
        .build()
        .unwrap()
}

// W11
#[tokio::test]
async fn maps_come_out_alike() {
    let cases = [
        (
            json!([]),
            "completed
             each=completed
             again=completed
             list=skipped condition_unmet
             over_list=completed
             count=completed completed/1
             {\"count\": [0, 0]}",
        ),
        (
            json!([null, "ü", [1], {"a": 1}]),
            "completed
             each=completed completed/1 completed/1 completed/1 completed/1
             again=completed completed/1 completed/1 completed/1 completed/1
             list=skipped condition_unmet
             over_list=completed
             count=completed completed/1
             {\"count\": [4, 0]}",
        ),
        (
            json!([7, true]),
            "completed
             each=completed completed/1 completed/1
             again=completed completed/1 completed/1
             list=completed completed/1
             over_list=completed completed/1
             count=completed completed/1
             {\"count\": [2, 1]}",
        ),
    ];
    check("maps", |worker| worker.flow(Maps), &cases).await;
    check("maps", |worker| worker.json(maps()), &cases).await;
}

/// A list that may turn out to be none.
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Odd(Value);

impl FlowList for Odd {
    type Item = Value;
}

/// A map over what is no list.
struct Violation;

#[flow(input = Value)]
impl Violation {
    #[step(when_exhausted = fail)]
    async fn source(&self, input: Value) -> Result<Odd, StepError> {
        Ok(Odd(input))
    }

    #[map(over = source)]
    async fn each(&self, item: Value) -> Result<Value, StepError> {
        Ok(item)
    }
}

// W11
#[tokio::test]
async fn what_is_no_list_fails_alike() {
    let of = |kind: &str| {
        format!("step \"source\" must return an array, because map \"each\" runs over it; it returned {kind}")
    };
    let expected = |kind: &str| {
        let text = of(kind);
        format!("failed source {text}\nsource=failed \"{text}\" failed/1\neach=cancelled")
    };
    let kinds = [
        (json!({"a": [1]}), "object"),
        (json!("[1]"), "string"),
        (json!(7), "number"),
        (json!(true), "boolean"),
        (Value::Null, "null"),
    ];
    let texts: Vec<_> = kinds.iter().map(|(input, kind)| (input.clone(), expected(kind))).collect();
    let mut cases: Vec<_> = texts.iter().map(|(input, text)| (input.clone(), text.as_str())).collect();
    cases.push((json!([3]), "completed\nsource=completed completed/1\neach=completed completed/1\n{\"each\": [3]}"));
    check("violation", |worker| worker.flow(Violation), &cases).await;
    let graph = FlowBuilder::new("violation").step(StepBuilder::single("source"));
    let flow = JsonFlow::builder(graph.step(StepBuilder::map("each", "source")))
        .handler("source", JsonHandler::new(async |call| Ok(call.input().clone())))
        .handler("each", JsonHandler::new(async |call| Ok(call.item().clone())));
    check("violation", |worker| worker.json(flow.build().unwrap()), &cases).await;
}
