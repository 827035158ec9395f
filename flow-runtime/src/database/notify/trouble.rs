//! One line for a trouble, however often it is met.

/// What is wrong now, if anything.
pub(super) struct Trouble {
    line: &'static str,
    cause: Option<String>,
}

impl Trouble {
    /// No trouble yet; `line` says what it means when it comes.
    pub(super) fn new(line: &'static str) -> Self {
        Self { line, cause: None }
    }

    /// Logs the cause, unless it is the one that was logged last.
    pub(super) fn tell(&mut self, error: &sqlx::Error) {
        let cause = crate::error::message(error);
        if self.cause.as_ref() != Some(&cause) {
            tracing::warn!(cause, "{}", self.line);
            self.cause = Some(cause);
        }
    }

    /// Logs that it is over, if it was there.
    pub(super) fn is_over(&mut self) {
        if self.cause.take().is_some() {
            tracing::info!("the database answers again");
        }
    }
}
