//! The trait through which a worker calls a flow's handlers, and the types of such a call.

pub(crate) mod args;
pub(crate) mod context;
pub(crate) mod json;
pub(crate) mod registry;
pub(crate) mod step_queues;

use std::{future::Future, pin::Pin, sync::Arc};

use flow_core::{error::StepError, flow::Flow};

use crate::handler::{args::StepArgs, context::StepContext};

/// The result of a handler's attempt: the output as JSON text, or the error.
pub type StepResult = Result<String, StepError>;

/// One call of a handler, which has not begun yet.
pub enum StepCall {
    /// The call of an `async fn`: the future is polled on the runtime, and dropped when the attempt's timeout ends.
    Async(Pin<Box<dyn Future<Output = StepResult> + Send>>),
    /// The call of a `blocking` step: the closure runs on the blocking pool and cannot be stopped.
    Blocking(Box<dyn FnOnce() -> StepResult + Send>),
}

/// A flow whose handlers this process can call. Implemented by `#[flow]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no plain flow",
    label = "expected a type whose handlers stand under `#[flow(…)]`",
    note = "one step of a flow with step queues is served with `.step(Queues::new(flow), Step)`"
)]
pub trait Handlers: Flow {
    /// Whether the handler of `step` takes the run's input, so that the database sends the input with the step's tasks.
    fn takes_input(step: Self::Step) -> bool;

    /// Whether the handler of `step` is `blocking`.
    fn is_blocking(step: Self::Step) -> bool;

    /// Returns the handlers in a form that the threads of a worker share.
    fn share(self: Arc<Self>) -> SharedHandlers<Self::Step>;

    /// Makes the call of the handler of `step` for one task. The handler does not begin yet.
    fn call(self: Arc<Self>, step: Self::Step, args: StepArgs, ctx: StepContext) -> StepCall {
        self.share().call(step, args, ctx)
    }
}

/// The handlers of a flow with step enum `S`, which any thread may call.
pub struct SharedHandlers<S>(Arc<dyn Fn(S, StepArgs, StepContext) -> StepCall + Send + Sync>);

impl<S> SharedHandlers<S> {
    pub(crate) fn new(call: impl Fn(S, StepArgs, StepContext) -> StepCall + Send + Sync + 'static) -> Self {
        Self(Arc::new(call))
    }

    /// Makes the call of the handler of `step` for one task. The handler does not begin yet.
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

// Compiles the examples of the manual of `#[flow]`.
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
