//! Makes the call of a handler, and checks what the call needs of the flow's type: threads can share it, and it holds no borrows.

use std::{future::Future, marker::PhantomData, pin::Pin, sync::Arc};

use flow_core::{error::StepError, flow::Flow};

use crate::{
    generated::stand_in::stand_in_of,
    handler::{SharedHandlers, StepCall, StepResult, args::StepArgs, context::StepContext},
};

/// Makes the call of an `async fn`.
pub fn call_async(call: impl Future<Output = StepResult> + Send + 'static) -> StepCall {
    StepCall::Async(Box::pin(call))
}

/// Compiles when `future` can move between a worker's threads. Generated for handlers that seem to hold the borrow of a `RefCell` across
/// an `.await`: rustc would report one error for each part of the borrow that is not `Send`; this check reports one error in all.
pub fn moves_on<F: MovesOn>(future: F) {
    drop(future);
}

/// A future that can move between a worker's threads.
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

/// A future that [`moves_on`] has checked. For a future that was refused, the method of [`NotPassed`] is used.
pub struct Passed<F>(pub F);

impl<F: Future + Send> Passed<F> {
    /// The same future, boxed.
    #[must_use]
    pub fn on<'a>(self) -> Pin<Box<dyn Future<Output = F::Output> + Send + 'a>>
    where
        F: 'a,
    {
        Box::pin(self.0)
    }
}

/// Has the method of [`Passed`] for a future that [`moves_on`] has refused.
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

/// Makes the call of an `async fn` whose arguments did not decode: the call fails with `error`.
#[must_use]
pub fn call_failed(error: StepError) -> StepCall {
    StepCall::Async(Box::pin(std::future::ready(Err(error))))
}

/// Makes the call of a `blocking` handler.
pub fn call_blocking(call: impl FnOnce() -> StepResult + Send + 'static) -> StepCall {
    StepCall::Blocking(Box::new(call))
}

/// A type that the threads of a worker can share.
///
/// Generated impls have this bound on the flow's type, so that for a type which cannot be shared only [`is_shared`] reports an error.
pub trait Shared: Send + Sync + 'static {}

impl<T: Send + Sync + 'static> Shared for T {}

/// A type without borrows. Generated impls of `Flow` have this bound on the flow's type, for the same reason as [`Shared`].
pub trait Owned: 'static {}

impl<T: 'static> Owned for T {}

/// The calls of a flow's handlers. Generated impls have the bound [`Shared`] on the flow's type.
pub trait Calls: Flow {
    /// Makes the call of the handler of `step` for one task. The handler does not begin yet.
    fn call(self: Arc<Self>, step: Self::Step, args: StepArgs, ctx: StepContext) -> StepCall;
}

/// Shares a flow with the threads of a worker. For a flow that cannot be shared, [`is_shared`] reports the mistake at the flow, and the
/// method of [`NoSharing`] is used, so that uses of the flow give no further errors.
pub struct Sharing<F>(PhantomData<F>);

impl<F> Sharing<F> {
    /// Makes a value to call `share` on.
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

/// Has the method of [`Sharing`] for a flow that cannot be shared.
pub trait NoSharing: Sized {
    /// Never built.
    fn share<F, S>(self, _: Arc<F>) -> SharedHandlers<S> {
        stand_in_of::<Self, _>()
    }
}

impl<F> NoSharing for Sharing<F> {}

/// Holds the checks of a flow's type. Its impls do not have the bound [`Shared`], since the checks test just that.
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

/// A flow's type. For a type that threads cannot share, [`is_shared`] reports the mistake, and the method of [`NoLife`] is used.
pub struct Life<F>(PhantomData<F>);

impl<F> Life<F> {
    /// Makes a value to call `owns` on.
    #[must_use]
    pub const fn of() -> Self {
        Self(PhantomData)
    }
}

impl<F: Send + Sync> Life<F> {
    /// Compiles when `F` holds no borrows.
    pub fn owns(self)
    where
        F: 'static,
    {
    }
}

/// Has the method of [`Life`] without its check, for a type that threads cannot share.
pub trait NoLife: Sized {
    /// Always compiles.
    fn owns(self) {}
}

impl<F> NoLife for Life<F> {}
