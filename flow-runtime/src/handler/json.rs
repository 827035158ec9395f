//! Flows that are built at run time: a definition with a handler over JSON for each step.

pub(crate) mod call;

use std::{collections::HashMap, fmt, sync::Arc};

use flow_core::{
    builder::FlowBuilder,
    definition::{FlowDefinition, StepKind, StepShape},
    near::near_miss,
    validate::DefinitionErrors,
};

use crate::handler::{StepCall, args::StepArgs, context::StepContext};

use self::call::JsonHandler;

/// A flow that is known only at run time, with a handler for each step.
///
/// ```
/// use flow_core::builder::{FlowBuilder, StepBuilder};
/// use flow_runtime::{JsonFlow, JsonHandler};
/// use serde_json::json;
///
/// let graph = FlowBuilder::new("greet").step(StepBuilder::single("hello")).step(StepBuilder::single("log").needs(["hello"]));
/// let flow = JsonFlow::builder(graph)
///     .handler("hello", JsonHandler::new(async |call| Ok(json!({ "text": format!("hello {}", call.input()) }))))
///     .handler("log", JsonHandler::blocking(|call| Ok(call.output("hello")["text"].clone())))
///     .build()?;
/// assert_eq!(flow.definition().shape.steps.len(), 2);
/// # Ok::<(), flow_runtime::JsonFlowError>(())
/// ```
#[derive(Clone)]
pub struct JsonFlow {
    definition: FlowDefinition,
    /// One handler a step, in step order.
    handlers: Vec<JsonHandler>,
    slugs: Arc<[Arc<str>]>,
}

/// A [`JsonFlow`] to which handlers can still be added.
#[must_use = "nothing is checked before `build`"]
#[derive(Debug)]
pub struct JsonFlowBuilder {
    graph: FlowBuilder,
    handlers: Vec<(String, JsonHandler)>,
    others: Option<JsonHandler>,
}

impl JsonFlow {
    /// Begins a flow with its graph. [`JsonFlowBuilder::build`] reports the graph's mistakes.
    pub fn builder(graph: FlowBuilder) -> JsonFlowBuilder {
        JsonFlowBuilder { graph, handlers: Vec::new(), others: None }
    }

    /// The definition that a worker deploys.
    pub fn definition(&self) -> &FlowDefinition {
        &self.definition
    }

    /// Whether the handler of the step with index `step` takes the run's input.
    pub fn takes_input(&self, step: usize) -> bool {
        self.handlers[step].takes_input
    }

    /// Whether the handler of the step with index `step` blocks its thread.
    pub fn is_blocking(&self, step: usize) -> bool {
        self.handlers[step].is_blocking()
    }

    /// Makes the call of the handler of the step with index `step` for one task.
    pub fn call(&self, step: usize, args: StepArgs, ctx: StepContext) -> StepCall {
        self.handlers[step].call(args, Arc::clone(&self.slugs), ctx)
    }
}

impl JsonFlowBuilder {
    /// Sets the handler of the step with slug `step`.
    pub fn handler(mut self, step: impl Into<String>, handler: JsonHandler) -> Self {
        self.handlers.push((step.into(), handler));
        self
    }

    /// Sets the handler of every step that has no handler of its own.
    pub fn other_steps(mut self, handler: JsonHandler) -> Self {
        self.others = Some(handler);
        self
    }

    /// Checks the graph, and that every step has one handler.
    ///
    /// # Errors
    /// Every mistake of the graph at once; with a legal graph, every handler that is missing, given twice or given for an unknown step.
    pub fn build(self) -> Result<JsonFlow, JsonFlowError> {
        let Self { graph, handlers, others } = self;
        let definition = graph.build()?;
        let steps = &definition.shape.steps;
        let mut mistakes = Vec::new();
        let mut named: HashMap<String, JsonHandler> = HashMap::new();
        for (step, handler) in handlers {
            if !steps.iter().any(|known| known.slug == step) {
                mistakes.push(unknown(&step, steps));
            } else if named.insert(step.clone(), handler).is_some() {
                mistakes.push(format!("step `{step}` has two handlers; give it one"));
            }
        }
        let mut in_order = Vec::with_capacity(steps.len());
        for step in steps {
            match named.remove(&step.slug).or_else(|| others.clone()) {
                Some(handler) => in_order.push(handler),
                None => mistakes.push(format!("step `{}` has no handler; add one with `handler`", step.slug)),
            }
        }
        if !mistakes.is_empty() {
            return Err(JsonFlowError::Handlers(mistakes));
        }
        let slugs = steps.iter().map(|step| step.slug.as_str().into()).collect();
        Ok(JsonFlow { definition, handlers: in_order, slugs })
    }
}

fn unknown(step: &str, steps: &[StepShape]) -> String {
    let near = near_miss(step, steps.iter().map(|step| step.slug.as_str()));
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("there is a handler for `{step}`, but this flow has no such step{hint}")
}

/// Why a [`JsonFlow`] could not be built.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonFlowError {
    /// The graph breaks rules.
    Definition(DefinitionErrors),
    /// Handlers are missing, given twice or given for unknown steps; one text a mistake.
    Handlers(Vec<String>),
}

impl fmt::Display for JsonFlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Definition(errors) => errors.fmt(f),
            Self::Handlers(mistakes) => {
                f.write_str("handlers and steps do not go together:")?;
                mistakes.iter().try_for_each(|mistake| write!(f, "\n- {mistake}"))
            }
        }
    }
}

impl std::error::Error for JsonFlowError {}

impl From<DefinitionErrors> for JsonFlowError {
    fn from(errors: DefinitionErrors) -> Self {
        Self::Definition(errors)
    }
}

impl fmt::Debug for JsonFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let maps = self.definition.shape.steps.iter().filter(|step| step.kind == StepKind::Map).count();
        let steps = self.handlers.len();
        f.debug_struct("JsonFlow")
            .field("slug", &self.definition.shape.slug)
            .field("steps", &steps)
            .field("maps", &maps)
            .finish()
    }
}

#[cfg(test)]
mod tests;
