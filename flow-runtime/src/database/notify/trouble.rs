//! Logs a trouble once when it begins and once when it is over, however often the same error comes.

/// A trouble that may come and go, with the cause that was logged last while the trouble lasts.
pub(super) struct Trouble {
    line: &'static str,
    cause: Option<String>,
}

impl Trouble {
    /// No trouble yet. `line` is the log line for its beginning.
    pub(super) fn new(line: &'static str) -> Self {
        Self { line, cause: None }
    }

    /// Logs the cause, unless the same cause was logged last.
    pub(super) fn tell(&mut self, error: &sqlx::Error) {
        let cause = crate::error::message(error);
        if self.cause.as_ref() != Some(&cause) {
            tracing::warn!(cause, "{}", self.line);
            self.cause = Some(cause);
        }
    }

    /// Logs that the trouble is over, if there was one.
    pub(super) fn is_over(&mut self) {
        if self.cause.take().is_some() {
            tracing::info!("the database answers again");
        }
    }
}
