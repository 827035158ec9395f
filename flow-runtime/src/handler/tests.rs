//! Tests of a flow's handlers, called as a worker calls them, with JSON.

use std::sync::Arc;

use flow_core::error::FailureAction;

use crate::{Handlers, StepArgs, StepCall, StepResult, prelude::*};

struct Sum;

#[flow(input = Vec<u32>)]
impl Sum {
    #[map(over = input)]
    async fn double(&self, item: u32) -> Result<u32, StepError> {
        item.checked_mul(2).ok_or_else(|| StepError::permanent("too large"))
    }

    #[step(when_exhausted = skip)]
    async fn note(&self, input: Vec<u32>) -> Result<Option<String>, StepError> {
        Ok(input.first().map(ToString::to_string))
    }

    #[step(blocking)]
    fn add(&self, double: Vec<u32>, note: Option<Option<String>>) -> Result<(u32, Option<Option<String>>), String> {
        Ok((double.into_iter().sum(), note))
    }
}

async fn call(step: SumStep, args: StepArgs) -> StepResult {
    match Arc::new(Sum).call(step, args, StepContext::for_test()) {
        StepCall::Async(call) => call.await,
        StepCall::Blocking(call) => call(),
    }
}

fn with_deps(deps: &[(usize, &str)]) -> StepArgs {
    StepArgs { deps: deps.iter().map(|(step, json)| (*step, (*json).into())).collect(), ..StepArgs::default() }
}

#[tokio::test]
async fn arguments_are_decoded_and_outputs_encoded() {
    let args = StepArgs { item: Some("21".into()), ..StepArgs::default() };
    assert_eq!(call(SumStep::Double, args).await, Ok("42".to_owned()));
    let args = StepArgs { input: Some("[7, 8]".into()), ..StepArgs::default() };
    assert_eq!(call(SumStep::Note, args).await, Ok("\"7\"".to_owned()));
}

// T18
#[tokio::test]
async fn null_is_an_output_and_a_skipped_step_has_none() {
    let completed = with_deps(&[(0, "[1, 2]"), (1, "null")]);
    let args = completed.clone();
    assert_eq!(call(SumStep::Add, completed).await, Ok("[3,null]".to_owned()));
    assert_eq!(args.optional_dep::<Option<String>>("note", 1), Ok(Some(None)));
    assert_eq!(with_deps(&[]).optional_dep::<Option<String>>("note", 1), Ok(None));
}

#[tokio::test]
async fn what_does_not_decode_is_permanent_and_names_the_place() {
    let error = call(SumStep::Add, with_deps(&[(0, "[1, \"secret\"]")])).await.expect_err("no list of numbers");
    assert_eq!(error.action(), FailureAction::Permanent);
    assert!(error.message().contains("`double`") && error.message().contains("[1]"), "{error}");
    assert!(!error.message().contains("secret"), "{error}");
}

#[test]
fn the_database_sends_the_input_to_those_that_take_it() {
    assert_eq!(of_each(Sum::takes_input), [false, true, false]);
    assert_eq!(of_each(Sum::is_blocking), [false, false, true]);
}

fn of_each(fact: fn(SumStep) -> bool) -> Vec<bool> {
    SumStep::ALL.iter().copied().map(fact).collect()
}
