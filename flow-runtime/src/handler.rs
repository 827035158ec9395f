//! The trait through which a worker runs a flow's handlers.

pub(crate) mod args;
pub(crate) mod context;
pub(crate) mod json;
pub(crate) mod registry;
pub(crate) mod step_queues;

use std::{future::Future, pin::Pin, sync::Arc};

use flow_core::{error::StepError, flow::Flow};

use crate::handler::{args::StepArgs, context::StepContext};

/// What a handler's attempt ended with: its output as JSON text, or why it failed.
pub type StepResult = Result<String, StepError>;

/// One call of a handler, not begun yet.
pub enum StepCall {
    /// An `async fn`: polled on the runtime, dropped when it passes its timeout.
    Async(Pin<Box<dyn Future<Output = StepResult> + Send>>),
    /// A `blocking` step: run on the blocking pool, cannot be stopped.
    Blocking(Box<dyn FnOnce() -> StepResult + Send>),
}

/// A flow whose handlers this process can run. Implemented by `#[flow]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no plain flow",
    label = "expected a type whose handlers stand under `#[flow(…)]`",
    note = "one step of a flow with step queues is served with `.step(Queues::new(flow), Step)`"
)]
pub trait Handlers: Flow {
    /// Whether the handler of `step` takes the run's input, so that the database sends it.
    fn takes_input(step: Self::Step) -> bool;

    /// Whether the handler of `step` is `blocking`.
    fn is_blocking(step: Self::Step) -> bool;

    /// The handlers, as the threads of a worker share them.
    fn share(self: Arc<Self>) -> SharedHandlers<Self::Step>;

    /// Makes the call of one task's handler from its arguments.
    fn call(self: Arc<Self>, step: Self::Step, args: StepArgs, ctx: StepContext) -> StepCall {
        self.share().call(step, args, ctx)
    }
}

/// The handlers of a flow whose steps are `S`, to be called from any thread.
pub struct SharedHandlers<S>(Arc<dyn Fn(S, StepArgs, StepContext) -> StepCall + Send + Sync>);

impl<S> SharedHandlers<S> {
    pub(crate) fn new(call: impl Fn(S, StepArgs, StepContext) -> StepCall + Send + Sync + 'static) -> Self {
        Self(Arc::new(call))
    }

    /// Makes the call of one task's handler from its arguments.
    #[must_use]
    pub fn call(&self, step: S, args: StepArgs, ctx: StepContext) -> StepCall {
        (self.0)(step, args, ctx)
    }
}

impl<F: Handlers> Handlers for Arc<F> {
    fn takes_input(step: Self::Step) -> bool {
        F::takes_input(step)
    }

    fn is_blocking(step: Self::Step) -> bool {
        F::is_blocking(step)
    }

    fn share(self: Arc<Self>) -> SharedHandlers<Self::Step> {
        F::share(Arc::clone(&self))
    }
}

// The manual's examples.
#[cfg(doctest)]
#[doc = include_str!("../../flow-macros/src/manual.md")]
struct Manual;

impl<S> std::fmt::Debug for SharedHandlers<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedHandlers").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for StepCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self {
            Self::Async(_) => "Async",
            Self::Blocking(_) => "Blocking",
        };
        f.debug_struct(kind).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
