//! Checks what a handler returns, and turns the returned value into the result of the attempt.

use std::marker::PhantomData;

use flow_core::{error::IntoStepError, value::FlowValue};

use crate::{
    generated::stand_in::stand_in_of,
    handler::{StepResult, args::encode_output},
};

/// Compiles when a step may fail with `E`.
pub fn fails_with<E: IntoStepError>() {}

/// What a handler returned, after the check that it is a result whose output is `T`.
pub fn returned<T, R: Returns<T>>(returned: R) -> Ended<R> {
    Ended(returned)
}

/// A `Result<T, E>` with an error type with which a step may fail.
#[diagnostic::on_unimplemented(
    message = "a step returns `Result<{T}, E>`, and this `Result` is `{Self}`",
    label = "expected a `Result` of `{T}`",
    note = "an alias called `Result` has the output as its first parameter; write `std::result::Result<T, E>` instead"
)]
pub trait Returns<T> {}

impl<T, E: IntoStepError> Returns<T> for Result<T, E> {}

/// A `Result`, with its type of success. For an alias of `Result` whose parameters stand in another order.
#[diagnostic::on_unimplemented(
    message = "a step returns a `Result`, and `{Self}` is none",
    label = "expected a `Result`"
)]
pub trait Outcome {
    /// The type of success.
    type Output;
}

impl<T, E> Outcome for Result<T, E> {
    type Output = T;
}

/// The error type in a handler's return type. For an error type with which a step cannot fail, [`fails_with`] reports the mistake, and the
/// methods of [`NoFailure`] are used, which check nothing.
pub struct Failure<E>(PhantomData<E>);

impl<E> Failure<E> {
    /// Makes a value to call `returned` on.
    #[must_use]
    pub const fn of() -> Self {
        Self(PhantomData)
    }
}

impl<E: IntoStepError> Failure<E> {
    /// What a handler returned, after the check that it is a result whose output is `T`.
    pub fn returned<T, R: Returns<T>>(self, returned: R) -> Ended<R> {
        Ended(returned)
    }
}

/// Has the method of [`Failure`] without its check, for an error type with which a step cannot fail.
pub trait NoFailure: Sized {
    /// What a handler returned.
    fn returned<T, R>(self, returned: R) -> Ended<R> {
        Ended(returned)
    }
}

impl<E> NoFailure for Failure<E> {}

/// What a handler returned. For a value that is no result of a step, [`returned`] or [`Failure`] reports the mistake, and the method of
/// [`NoEnd`] is used.
pub struct Ended<R>(pub R);

impl<T: FlowValue + serde::Serialize + serde::de::DeserializeOwned, E: IntoStepError> Ended<Result<T, E>> {
    /// The output as JSON text, or the failure of the attempt.
    ///
    /// # Errors
    /// The handler's error, and the error of an output that cannot be written as JSON.
    pub fn end(self) -> StepResult {
        self.0.map_err(IntoStepError::into_step_error).and_then(|output| encode_output(&output))
    }
}

/// Has the method of [`Ended`] for a value that is no result of a step.
pub trait NoEnd: Sized {
    /// Never built.
    ///
    /// # Errors
    /// None.
    fn end(self) -> StepResult {
        stand_in_of::<Self, _>()
    }
}

impl<R> NoEnd for Ended<R> {}

#[cfg(test)]
mod tests {
    use flow_core::error::StepError;

    use super::*;

    #[test]
    fn an_output_ends_as_json_and_an_error_as_a_failure() {
        assert_eq!(Ended(Ok::<_, String>(3)).end(), Ok("3".to_owned()));
        assert_eq!(Ended(Err::<u32, _>("no")).end(), Err(StepError::new("no")));
    }
}
