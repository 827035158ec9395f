//! How a handler says that an attempt failed.

use std::{error::Error, fmt, time::Duration};

/// Why an attempt of a task did not succeed, and what should happen next.
///
/// Anything that converts into a boxed `std::error::Error` becomes a `StepError` that is retried, so `?` works on
/// every error type. `StepError` itself is deliberately no `std::error::Error`.
///
/// ```
/// use flow_core::error::StepError;
///
/// fn parse(text: &str) -> Result<u32, StepError> {
///     if text.is_empty() {
///         return Err(StepError::permanent("the text is empty"));
///     }
///     Ok(text.parse()?) // any error is one that is tried again
/// }
/// assert!(parse("x").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepError {
    message: String,
    action: FailureAction,
    is_undecodable: bool,
}

/// What should happen after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailureAction {
    /// Try again after the step's own delay, while attempts are left.
    #[default]
    Retry,
    /// Try again after this delay, while attempts are left.
    RetryAfter(Duration),
    /// Do not try again.
    Permanent,
}

impl StepError {
    /// A failure that is retried while attempts are left.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), action: FailureAction::Retry, is_undecodable: false }
    }

    /// A failure that is not retried, because no further attempt could succeed.
    pub fn permanent(message: impl Into<String>) -> Self {
        Self { message: message.into(), action: FailureAction::Permanent, is_undecodable: false }
    }

    /// A value that the handler's types cannot decode. Not retried, unless types have drifted, so that a worker of
    /// another build may be able to decode it.
    #[doc(hidden)]
    pub fn undecodable(message: impl Into<String>) -> Self {
        Self { is_undecodable: true, ..Self::permanent(message) }
    }

    /// Whether this error was made by [`StepError::undecodable`].
    #[doc(hidden)]
    pub fn is_undecodable(&self) -> bool {
        self.is_undecodable
    }

    /// Returns the same failure with another action; it does not count as undecodable any more.
    pub fn with_action(self, action: FailureAction) -> Self {
        Self { action, is_undecodable: false, ..self }
    }

    /// The text that the run's history keeps: the error and its sources, joined by `: `.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What should happen after the attempt.
    pub fn action(&self) -> FailureAction {
        self.action
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for StepError {
    fn from(error: E) -> Self {
        Self::new(with_sources(&*error.into()))
    }
}

/// An error that a handler may return: [`StepError`], or anything that converts into a boxed `std::error::Error`.
///
/// Implemented for standard errors, `anyhow::Error`, `String`, `&str` and every type that converts into a
/// [`StepError`].
#[diagnostic::on_unimplemented(
    message = "a step cannot fail with `{Self}`",
    label = "neither `StepError` nor an error that converts into one",
    note = "implement `std::error::Error + Send + Sync` for it, or return `StepError`",
    note = "a boxed error is `Box<dyn std::error::Error + Send + Sync>`"
)]
pub trait IntoStepError {
    /// Converts the error into the failure of the attempt.
    fn into_step_error(self) -> StepError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<StepError>> IntoStepError for E {
    fn into_step_error(self) -> StepError {
        self.into()
    }
}

/// Methods on a `Result` that say what should happen after its error.
pub trait FailureExt<T> {
    /// Makes the error permanent: no further attempt is made.
    ///
    /// # Errors
    /// The error of `self`, made permanent.
    fn permanent(self) -> Result<T, StepError>;

    /// Makes the next attempt wait for `delay` instead of the step's own delay.
    ///
    /// # Errors
    /// The error of `self`, with the delay.
    fn retry_after(self, delay: Duration) -> Result<T, StepError>;
}

impl<T, E: IntoStepError> FailureExt<T> for Result<T, E> {
    fn permanent(self) -> Result<T, StepError> {
        self.map_err(|error| error.into_step_error().with_action(FailureAction::Permanent))
    }

    fn retry_after(self, delay: Duration) -> Result<T, StepError> {
        self.map_err(|error| error.into_step_error().with_action(FailureAction::RetryAfter(delay)))
    }
}

/// The error's text and those of its sources, joined by `: `.
fn with_sources(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let part = cause.to_string();
        if !text.ends_with(&part) {
            text.push_str(": ");
            text.push_str(&part);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<u8, StepError> {
        Ok(text.parse::<u8>()?)
    }

    #[test]
    fn an_error_is_retried_unless_it_says_otherwise() {
        let error = parse("x").expect_err("no number");
        assert_eq!((error.message(), error.action()), ("invalid digit found in string", FailureAction::Retry));
        let error = parse("x").permanent().expect_err("no number");
        assert_eq!(error.action(), FailureAction::Permanent);
        let wait = Duration::from_secs(7);
        let error = Err::<(), _>("busy").retry_after(wait).expect_err("busy");
        assert_eq!((error.message(), error.action()), ("busy", FailureAction::RetryAfter(wait)));
    }

    /// An error with a cause.
    #[derive(Debug)]
    struct Outer(&'static str, Option<Box<Outer>>);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn the_text_has_each_cause_once() {
        let of = |texts: &[&'static str]| {
            texts.iter().rev().fold(None, |cause, text| Some(Box::new(Outer(text, cause)))).map(StepError::from)
        };
        let text = |texts: &[&'static str]| of(texts).map(|error| error.to_string());
        assert_eq!(text(&["no stock", "shelf 3", "empty"]).as_deref(), Some("no stock: shelf 3: empty"));
        assert_eq!(text(&["no stock: empty", "empty"]).as_deref(), Some("no stock: empty"), "said already");
        assert_eq!(text(&["no stock"]).as_deref(), Some("no stock"));
    }
}
