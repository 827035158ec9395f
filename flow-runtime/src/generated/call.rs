//! The call of a handler, and what its flow's type has to be for it.

use std::{future::Future, marker::PhantomData, pin::Pin, sync::Arc};

use flow_core::{error::StepError, flow::Flow};

use crate::{
    generated::stand_in::stand_in_of,
    handler::{SharedHandlers, StepCall, StepResult, args::StepArgs, context::StepContext},
};

/// The call of an `async fn`.
pub fn call_async(call: impl Future<Output = StepResult> + Send + 'static) -> StepCall {
    StepCall::Async(Box::pin(call))
}

/// Compiles when a worker's threads can pass `future` on, whose handler seems to hold the borrow of a `RefCell` across an
/// `.await`. Such a borrow has several parts that no other thread may have, and rustc has an error for each; this check has one.
pub fn moves_on<F: MovesOn>(future: F) {
    drop(future);
}

/// A future that a worker's threads pass on.
#[diagnostic::on_unimplemented(
    message = "future cannot be sent between threads safely: what `borrow()` or `borrow_mut()` returned is held across an \
               `.await`",
    label = "the handler may go on in another thread from here",
    note = "end the borrow before the `.await`: in a block of its own, or with `drop`",
    note = "a `tokio::sync::Mutex` may be held across an `.await`"
)]
pub trait MovesOn {}

#[diagnostic::do_not_recommend]
impl<F: Send> MovesOn for F {}

/// A future that [`moves_on`] has checked. Where it was refused, [`NotPassed`] stands in.
pub struct Passed<F>(pub F);

impl<F: Future + Send> Passed<F> {
    /// The same future.
    #[must_use]
    pub fn on<'a>(self) -> Pin<Box<dyn Future<Output = F::Output> + Send + 'a>>
    where
        F: 'a,
    {
        Box::pin(self.0)
    }
}

/// Passes nothing on; see [`Passed`].
pub trait NotPassed: Sized {
    /// The future.
    type Future: Future;

    /// Never built.
    fn on<'a>(self) -> Pin<Box<dyn Future<Output = <Self::Future as Future>::Output> + Send + 'a>> {
        stand_in_of::<Self, _>()
    }
}

impl<F: Future> NotPassed for Passed<F> {
    type Future = F;
}

/// The call of an `async fn` whose arguments did not decode.
#[must_use]
pub fn call_failed(error: StepError) -> StepCall {
    StepCall::Async(Box::pin(std::future::ready(Err(error))))
}

/// The call of a `blocking` handler.
pub fn call_blocking(call: impl FnOnce() -> StepResult + Send + 'static) -> StepCall {
    StepCall::Blocking(Box::new(call))
}

/// A type that the threads of a worker share.
///
/// Generated impls assume it of the flow's type, so that nothing but [`is_shared`] speaks of a type that is none.
pub trait Shared: Send + Sync + 'static {}

impl<T: Send + Sync + 'static> Shared for T {}

/// A type without borrows. Generated impls of `Flow` assume it, as they do [`Shared`].
pub trait Owned: 'static {}

impl<T: 'static> Owned for T {}

/// The calls of a flow's handlers. Generated impls assume that the flow's type is [`Shared`].
pub trait Calls: Flow {
    /// Makes the call of the handler of `step` for one task. The handler does not begin yet.
    fn call(self: Arc<Self>, step: Self::Step, args: StepArgs, ctx: StepContext) -> StepCall;
}

/// Shares a flow with the threads of a worker. Where they cannot share it that is reported at the flow, and
/// [`NoSharing`] stands in: whoever uses such a flow is told nothing more.
pub struct Sharing<F>(PhantomData<F>);

impl<F> Sharing<F> {
    /// To call `share` on.
    #[must_use]
    pub const fn of() -> Self {
        Self(PhantomData)
    }
}

impl<F: Calls + Shared> Sharing<F> {
    /// The handlers of `flow`.
    #[must_use]
    pub fn share(self, flow: Arc<F>) -> SharedHandlers<F::Step> {
        SharedHandlers::new(move |step, args, ctx| Arc::clone(&flow).call(step, args, ctx))
    }
}

/// Shares nothing; see [`Sharing`].
pub trait NoSharing: Sized {
    /// Never built.
    fn share<F, S>(self, _: Arc<F>) -> SharedHandlers<S> {
        stand_in_of::<Self, _>()
    }
}

impl<F> NoSharing for Sharing<F> {}

/// Where the checks of a flow's type stand, without the assumption that it is [`Shared`].
pub trait Checked {
    /// Never called.
    fn check();
}

/// Compiles when threads can share `F`.
pub fn is_shared<F: OnThreads>() {}

/// A type that threads can share.
#[diagnostic::on_unimplemented(
    message = "the handlers of `{Self}` cannot run on a worker's threads",
    label = "not `Send + Sync`",
    note = "what handlers need is shared by threads: an `Arc` in place of an `Rc`, a `Mutex` or an atomic in place of a \
            `Cell` or `RefCell`, `dyn Trait + Send + Sync` in place of `dyn Trait`",
    note = "a type parameter says it where it stands: `impl<R: Repo + Send + Sync + 'static>`"
)]
pub trait OnThreads {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync> OnThreads for T {}

/// A flow's type. Where threads cannot share it, that is reported elsewhere, and [`NoLife`] stands in.
pub struct Life<F>(PhantomData<F>);

impl<F> Life<F> {
    /// To call `owns` on.
    #[must_use]
    pub const fn of() -> Self {
        Self(PhantomData)
    }
}

impl<F: Send + Sync> Life<F> {
    /// Compiles when `F` owns what it holds.
    pub fn owns(self)
    where
        F: 'static,
    {
    }
}

/// Asks nothing; see [`Life`].
pub trait NoLife: Sized {
    /// Compiles.
    fn owns(self) {}
}

impl<F> NoLife for Life<F> {}
