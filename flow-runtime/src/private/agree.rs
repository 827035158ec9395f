//! What a handler's parameters are agrees with what is there: checks worded with the user's names and types.
//!
//! `S` is a type named like the step whose output is taken; it is there for the text only.

/// The output of a step that is never skipped.
pub fn output<S, E, T: OutputIs<S, E>>(value: E) -> T {
    T::from_output(value)
}

/// The output of a step that is skipped where its condition is not met.
pub fn output_unless_unmet<S, E, T: OutputUnlessUnmet<S, E>>(value: Option<E>) -> T {
    T::from_output(value)
}

/// The output of a step that is skipped where no attempt is left.
pub fn output_unless_exhausted<S, E, T: OutputUnlessExhausted<S, E>>(value: Option<E>) -> T {
    T::from_output(value)
}

/// The run's input.
pub fn input<E, T: InputIs<E>>(value: E) -> T {
    T::from_input(value)
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
