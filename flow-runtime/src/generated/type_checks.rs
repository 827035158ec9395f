//! Checks at compile time that each parameter has the type of the value it receives; errors name the user's step and types.
//!
//! `S` is a type named like the step whose output the parameter takes. Only the error texts use `S`.

use crate::handler::context::StepContext;

/// Passes the attempt's context, after the check that the parameter's type is `&StepContext`.
pub fn context<'a, T: ContextIs<'a>>(ctx: &'a StepContext) -> T {
    T::from_context(ctx)
}

/// The type `&StepContext`.
#[diagnostic::on_unimplemented(
    message = "`ctx` is the context; its type is `&StepContext`, not `{Self}`",
    label = "expected `&StepContext`"
)]
pub trait ContextIs<'a> {
    /// The same context.
    fn from_context(ctx: &'a StepContext) -> Self;
}

#[diagnostic::do_not_recommend]
impl<'a> ContextIs<'a> for &'a StepContext {
    fn from_context(ctx: &'a StepContext) -> Self {
        ctx
    }
}

/// The type `E`.
#[diagnostic::on_unimplemented(
    message = "step `{S}` returns `{E}`, not `{Self}`",
    label = "expected `{E}`, the output of `{S}`"
)]
pub trait OutputIs<S, E> {
    /// The same value.
    fn from_output(value: E) -> Self;
}

#[diagnostic::do_not_recommend]
impl<S, E> OutputIs<S, E> for E {
    fn from_output(value: E) -> Self {
        value
    }
}

/// The type `Option<E>`.
#[diagnostic::on_unimplemented(
    message = "step `{S}` may be skipped (`when_unmet = skip`), so it is taken as `Option<{E}>`, not `{Self}`",
    label = "expected `Option<{E}>`"
)]
pub trait OutputUnlessUnmet<S, E> {
    /// The same value.
    fn from_output(value: Option<E>) -> Self;
}

#[diagnostic::do_not_recommend]
impl<S, E> OutputUnlessUnmet<S, E> for Option<E> {
    fn from_output(value: Self) -> Self {
        value
    }
}

/// The type `Option<E>`.
#[diagnostic::on_unimplemented(
    message = "step `{S}` may be skipped (`when_exhausted = skip`), so it is taken as `Option<{E}>`, not `{Self}`",
    label = "expected `Option<{E}>`"
)]
pub trait OutputUnlessExhausted<S, E> {
    /// The same value.
    fn from_output(value: Option<E>) -> Self;
}

#[diagnostic::do_not_recommend]
impl<S, E> OutputUnlessExhausted<S, E> for Option<E> {
    fn from_output(value: Self) -> Self {
        value
    }
}

/// The type `E`.
#[diagnostic::on_unimplemented(
    message = "the input of this flow is `{E}`, not `{Self}`",
    label = "expected `{E}`, as in `#[flow(input = …)]`"
)]
pub trait InputIs<E> {
    /// The same value.
    fn from_input(value: E) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E> InputIs<E> for E {
    fn from_input(value: E) -> Self {
        value
    }
}
