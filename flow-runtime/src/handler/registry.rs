//! A flow as a worker holds it: its definition and its handlers, with the flow's type erased.

use std::sync::Arc;

use flow_core::{definition::FlowDefinition, flow::Flow, step::StepEnum};

use crate::handler::{
    Handlers, SharedHandlers, StepCall, args::StepArgs, context::StepContext, json::JsonFlow, step_queues::StepQueued,
};

/// The handlers of one flow, by step index.
pub(crate) trait DynHandlers: Send + Sync {
    /// Whether the handler takes the run's input.
    fn takes_input(&self, step: usize) -> bool;

    /// Whether the handler is `blocking`.
    fn is_blocking(&self, step: usize) -> bool;

    /// Makes the call of one task's handler.
    fn call(&self, step: usize, args: StepArgs, ctx: StepContext) -> StepCall;
}

/// The handlers of a flow that the compiler knows.
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
    /// The version of the crate that the flow is in, where it is known.
    pub(crate) version: Option<&'static str>,
    pub(crate) handlers: Arc<dyn DynHandlers>,
    /// The steps' slugs, by index; shared by every context.
    pub(crate) slugs: Arc<[Arc<str>]>,
    /// The indexes of the steps whose outputs each step takes, by index.
    needs: Arc<[Vec<usize>]>,
}

impl Registered {
    /// A flow whose handlers the compiler knows.
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

    /// Leaves of the values that a reply sent for a task's run only those that its step takes.
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
