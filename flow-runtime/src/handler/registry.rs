//! A flow as a worker holds it: its definition and its handlers, with the flow's type erased.

use std::sync::Arc;

use flow_core::{definition::FlowDefinition, flow::Flow, step::StepEnum};

use crate::handler::{
    Handlers, SharedHandlers, StepCall, args::StepArgs, context::StepContext, json::JsonFlow, step_queues::StepQueued,
};

/// The handlers of one flow, by step index.
pub(crate) trait DynHandlers: Send + Sync {
    /// Whether the handler of the step with index `step` takes the run's input.
    fn takes_input(&self, step: usize) -> bool;

    /// Whether the handler of the step with index `step` is `blocking`.
    fn is_blocking(&self, step: usize) -> bool;

    /// Makes the call of the handler of the step with index `step` for one task.
    fn call(&self, step: usize, args: StepArgs, ctx: StepContext) -> StepCall;
}

/// The handlers of a flow that was compiled into this program.
struct Typed<S> {
    takes_input: fn(S) -> bool,
    is_blocking: fn(S) -> bool,
    shared: SharedHandlers<S>,
}

impl<S: StepEnum> Typed<S> {
    fn of<F: Handlers<Step = S>>(flow: Arc<F>) -> Self {
        Self { takes_input: F::takes_input, is_blocking: F::is_blocking, shared: flow.share() }
    }
}

impl<S: StepEnum> DynHandlers for Typed<S> {
    fn takes_input(&self, step: usize) -> bool {
        (self.takes_input)(S::ALL[step])
    }

    fn is_blocking(&self, step: usize) -> bool {
        (self.is_blocking)(S::ALL[step])
    }

    fn call(&self, step: usize, args: StepArgs, ctx: StepContext) -> StepCall {
        self.shared.call(S::ALL[step], args, ctx)
    }
}

impl DynHandlers for JsonFlow {
    fn takes_input(&self, step: usize) -> bool {
        self.takes_input(step)
    }

    fn is_blocking(&self, step: usize) -> bool {
        self.is_blocking(step)
    }

    fn call(&self, step: usize, args: StepArgs, ctx: StepContext) -> StepCall {
        self.call(step, args, ctx)
    }
}

/// A flow's definition with its handlers.
#[derive(Clone)]
pub(crate) struct Registered {
    pub(crate) definition: Arc<FlowDefinition>,
    /// The version of the crate that defines the flow, where known.
    pub(crate) version: Option<&'static str>,
    pub(crate) handlers: Arc<dyn DynHandlers>,
    /// The steps' slugs, by step index. Every handler's context shares them.
    pub(crate) slugs: Arc<[Arc<str>]>,
    /// For each step, by its index, the indexes of the steps whose outputs its handler takes.
    needs: Arc<[Vec<usize>]>,
}

impl Registered {
    /// A plain flow that was compiled into this program.
    pub(crate) fn typed<F: Handlers>(flow: Arc<F>) -> Self {
        Self::new(<F as Flow>::definition(), F::VERSION, Arc::new(Typed::of(flow)))
    }

    /// A flow with step queues.
    pub(crate) fn step_queued<Q: StepQueued>(queues: &Q) -> Self {
        Self::new(Q::definition(), Q::Flow::VERSION, Arc::new(Typed::of(Arc::clone(queues.flow()))))
    }

    /// A flow that was built at run time.
    pub(crate) fn json(flow: JsonFlow) -> Self {
        Self::new(flow.definition().clone(), None, Arc::new(flow))
    }

    fn new(definition: FlowDefinition, version: Option<&'static str>, handlers: Arc<dyn DynHandlers>) -> Self {
        let steps = &definition.shape.steps;
        let slugs = steps.iter().map(|step| step.slug.as_str().into()).collect();
        let index = |slug: &String| steps.iter().position(|step| step.slug == *slug);
        let needs = steps.iter().map(|step| step.needs.iter().filter_map(index).collect()).collect();
        Self { slugs, needs, version, definition: Arc::new(definition), handlers }
    }

    /// Keeps of the values only those that the step takes. A reply carries the values of a run once for all of the run's tasks.
    pub(crate) fn own_values(&self, step: usize, mut args: StepArgs) -> StepArgs {
        if !self.handlers.takes_input(step) {
            args.input = None;
        }
        args.deps.retain(|(index, _)| self.needs[step].contains(index));
        args
    }

    pub(crate) fn slug(&self) -> &str {
        &self.definition.shape.slug
    }
}
