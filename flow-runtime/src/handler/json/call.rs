//! The handler of one step as a closure over JSON.

use std::{collections::HashMap, future::Future, pin::Pin, sync::Arc};

use flow_core::error::StepError;
use serde_json::Value;

use crate::handler::{
    StepCall, StepResult,
    args::{StepArgs, encode_output},
    context::StepContext,
};

type Called = Pin<Box<dyn Future<Output = Result<Value, StepError>> + Send>>;

/// A closure from the arguments of a task to its output.
#[derive(Clone)]
pub struct JsonHandler {
    pub(super) takes_input: bool,
    body: Body,
}

#[derive(Clone)]
enum Body {
    Async(Arc<dyn Fn(JsonCall) -> Called + Send + Sync>),
    Blocking(Arc<dyn Fn(JsonCall) -> Result<Value, StepError> + Send + Sync>),
}

/// The arguments of one task, decoded.
#[derive(Debug, Clone)]
pub struct JsonCall {
    input: Value,
    item: Value,
    outputs: HashMap<Arc<str>, Value>,
    ctx: StepContext,
}

const NULL: &Value = &Value::Null;

impl JsonHandler {
    /// A handler that runs on the async runtime.
    pub fn new<R>(call: impl Fn(JsonCall) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = Result<Value, StepError>> + Send + 'static,
    {
        Self { takes_input: true, body: Body::Async(Arc::new(move |args| Box::pin(call(args)))) }
    }

    /// A handler that blocks its thread.
    pub fn blocking(call: impl Fn(JsonCall) -> Result<Value, StepError> + Send + Sync + 'static) -> Self {
        Self { takes_input: true, body: Body::Blocking(Arc::new(call)) }
    }

    /// Says that the handler does not use the run's input, so that the database need not send the input.
    #[must_use]
    pub fn without_input(self) -> Self {
        Self { takes_input: false, ..self }
    }

    pub(super) fn is_blocking(&self) -> bool {
        matches!(self.body, Body::Blocking(_))
    }

    pub(super) fn call(&self, args: StepArgs, slugs: Arc<[Arc<str>]>, ctx: StepContext) -> StepCall {
        match self.body.clone() {
            Body::Async(body) => StepCall::Async(Box::pin(async move {
                let call = JsonCall::read(&args, &slugs, ctx)?;
                finish(body(call).await)
            })),
            Body::Blocking(body) => StepCall::Blocking(Box::new(move || {
                let call = JsonCall::read(&args, &slugs, ctx)?;
                finish(body(call))
            })),
        }
    }
}

fn finish(result: Result<Value, StepError>) -> StepResult {
    result.and_then(|output| encode_output(&output))
}

impl JsonCall {
    fn read(args: &StepArgs, slugs: &[Arc<str>], ctx: StepContext) -> Result<Self, StepError> {
        let outputs = args.deps.iter().map(|(step, _)| {
            let value = args.dep("outputs", *step)?;
            Ok((Arc::clone(&slugs[*step]), value))
        });
        Ok(Self {
            outputs: outputs.collect::<Result<_, StepError>>()?,
            input: if args.input.is_some() { args.input("input")? } else { Value::Null },
            item: if args.item.is_some() { args.item("item")? } else { Value::Null },
            ctx,
        })
    }

    /// The run's input; `null` for a handler without input.
    pub fn input(&self) -> &Value {
        &self.input
    }

    /// The task's element, in a map; else `null`.
    pub fn item(&self) -> &Value {
        &self.item
    }

    /// The output of the dependency with slug `step`; `null` when that step was skipped or is no dependency.
    pub fn output(&self, step: &str) -> &Value {
        self.outputs.get(step).unwrap_or(NULL)
    }

    /// Whether the dependency with slug `step` completed.
    pub fn has_output(&self, step: &str) -> bool {
        self.outputs.contains_key(step)
    }

    /// Ids, attempt, deadline and cancellation.
    pub fn ctx(&self) -> &StepContext {
        &self.ctx
    }
}

impl std::fmt::Debug for JsonHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JsonHandler").field("takes_input", &self.takes_input).finish_non_exhaustive()
    }
}
