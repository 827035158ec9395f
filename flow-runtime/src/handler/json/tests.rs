//! Tests of flows that are built at run time: their handlers, and the values that a handler sees.

use flow_core::{
    builder::StepBuilder,
    error::{FailureAction, StepError},
};
use serde_json::{Value, json};

use super::{call::JsonCall, *};
use crate::handler::StepResult;

fn graph() -> FlowBuilder {
    FlowBuilder::new("sum")
        .step(StepBuilder::single("add").needs(["double"]).after(["note"]))
        .step(StepBuilder::map("double", "input"))
        .step(StepBuilder::single("note"))
}

fn double(call: &JsonCall) -> Result<Value, StepError> {
    let number = call.item().as_i64().ok_or_else(|| StepError::permanent("no number"))?;
    Ok((number * 2).into())
}

fn flow() -> JsonFlow {
    let add = JsonHandler::new(async |call| {
        let doubled = call.output("double").as_array().cloned().unwrap_or_default();
        Ok(json!({ "sum": doubled.iter().filter_map(Value::as_i64).sum::<i64>(), "note": call.has_output("note") }))
    });
    JsonFlow::builder(graph())
        .handler("double", JsonHandler::blocking(|call| double(&call)).without_input())
        .handler("add", add.without_input())
        .other_steps(JsonHandler::new(async |call| Ok(call.input().clone())))
        .build()
        .expect("no mistakes")
}

async fn call(step: usize, args: StepArgs) -> StepResult {
    match flow().call(step, args, StepContext::for_test()) {
        StepCall::Async(call) => call.await,
        StepCall::Blocking(call) => call(),
    }
}

#[tokio::test]
async fn handlers_are_called_by_step_index() {
    let slugs: Vec<String> = flow().definition().shape.steps.iter().map(|step| step.slug.clone()).collect();
    assert_eq!(slugs, ["double", "note", "add"]);
    let args = StepArgs { item: Some("21".into()), ..StepArgs::default() };
    assert_eq!(call(0, args).await, Ok("42".to_owned()));
    let args = StepArgs { input: Some("[1,2]".into()), ..StepArgs::default() };
    assert_eq!(call(1, args).await, Ok("[1,2]".to_owned()));
    let args = StepArgs { deps: vec![(0, "[2,4]".into())], ..StepArgs::default() };
    assert_eq!(call(2, args).await, Ok(r#"{"note":false,"sum":6}"#.to_owned()));
}

#[tokio::test]
async fn a_handlers_error_is_the_attempts() {
    let args = StepArgs { item: Some("\"x\"".into()), ..StepArgs::default() };
    let error = call(0, args).await.expect_err("no number");
    assert_eq!((error.message(), error.action()), ("no number", FailureAction::Permanent));
}

#[test]
fn a_handler_says_whether_it_blocks_and_takes_the_input() {
    let flow = flow();
    assert_eq!([0, 1, 2].map(|step| flow.takes_input(step)), [false, true, false]);
    assert_eq!([0, 1, 2].map(|step| flow.is_blocking(step)), [true, false, false]);
}

// D19
#[test]
fn every_mistake_is_told_at_once() {
    let handler = || JsonHandler::new(async |_| Ok(Value::Null));
    let twice = JsonFlow::builder(graph()).handler("add", handler()).handler("add", handler());
    let error = twice.handler("doubel", handler()).handler("note", handler()).build().expect_err("three mistakes");
    let expected = "handlers and steps do not go together:
- step `add` has two handlers; give it one
- there is a handler for `doubel`, but this flow has no such step; did you mean `double`?
- step `double` has no handler; add one with `handler`";
    assert_eq!(error.to_string(), expected);

    let graph = FlowBuilder::new("a-b").step(StepBuilder::single("a").needs(["z"]).max_attempts(0));
    let JsonFlowError::Definition(errors) = JsonFlow::builder(graph).build().expect_err("three mistakes") else {
        panic!("the graph is wrong")
    };
    assert_eq!(errors.mistakes().len(), 3);
}
