//! What a handler returns, and the end of its attempt.

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

/// A `Result<T, E>` whose error a step may fail with.
#[diagnostic::on_unimplemented(
    message = "a step returns `Result<{T}, E>`, and this `Result` is `{Self}`",
    label = "expected a `Result` of `{T}`",
    note = "an alias called `Result` has the output as its first parameter; write `std::result::Result<T, E>` instead"
)]
pub trait Returns<T> {}

impl<T, E: IntoStepError> Returns<T> for Result<T, E> {}

/// The types of a `Result`, for one whose parameters stand in another order.
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

/// The error that a return type names. Where a step cannot fail with it that is reported elsewhere, and [`NoFailure`]
/// stands in.
pub struct Failure<E>(PhantomData<E>);

impl<E> Failure<E> {
    /// To call `returned` on.
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

/// Compares nothing; see [`Failure`].
pub trait NoFailure: Sized {
    /// What a handler returned.
    fn returned<T, R>(self, returned: R) -> Ended<R> {
        Ended(returned)
    }
}

impl<E> NoFailure for Failure<E> {}

/// What a handler returned. Where that is no result of a step, it is reported elsewhere, and [`NoEnd`] stands in.
pub struct Ended<R>(pub R);

impl<T: FlowValue + serde::Serialize + serde::de::DeserializeOwned, E: IntoStepError> Ended<Result<T, E>> {
    /// The output as JSON text, or the failure of the attempt.
    ///
    /// # Errors
    /// The handler's, and that of an output which cannot be written as JSON.
    pub fn end(self) -> StepResult {
        self.0.map_err(IntoStepError::into_step_error).and_then(|output| encode_output(&output))
    }
}

/// Ends nothing; see [`Ended`].
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
