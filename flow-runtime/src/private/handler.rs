//! The call of a handler, and what its flow's type has to be for it.

use std::{future::Future, marker::PhantomData};

use crate::handlers::{StepCall, StepResult};

/// The call of an `async fn`.
pub fn call_async(call: impl Future<Output = StepResult> + Send + 'static) -> StepCall {
    StepCall::Async(Box::pin(call))
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
