//! The end of an attempt, and the call of a handler.

use std::future::Future;

use flow_core::error::{IntoStepError, StepError};

use super::stand_in;
use crate::handlers::{StepCall, StepResult};

/// What a handler returned. Where `E` is no error of a step that is reported elsewhere, and [`NoEnd`] stands in.
pub struct Ended<T, E>(pub Result<T, E>);

impl<T, E: IntoStepError> Ended<T, E> {
    /// The output, or the failure of the attempt.
    ///
    /// # Errors
    /// The handler's.
    pub fn output(self) -> Result<T, StepError> {
        self.0.map_err(IntoStepError::into_step_error)
    }
}

/// Ends nothing; see [`Ended`].
pub trait NoEnd<T>: Sized {
    /// Never runs.
    ///
    /// # Errors
    /// None.
    fn output(self) -> Result<T, StepError> {
        stand_in()
    }
}

impl<T, E> NoEnd<T> for Ended<T, E> {}

/// Compiles when a step may fail with `E`.
pub fn fails_with<E: IntoStepError>() {}

/// The call of an `async fn`.
pub fn call_async(call: impl Future<Output = StepResult> + Send + 'static) -> StepCall {
    StepCall::Async(Box::pin(call))
}

/// The call of a `blocking` handler.
pub fn call_blocking(call: impl FnOnce() -> StepResult + Send + 'static) -> StepCall {
    StepCall::Blocking(Box::new(call))
}
