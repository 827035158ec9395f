//! How an attempt ended, and how that is sent to the database.

use std::time::Duration;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The handler returned this output, as JSON text.
    Complete(String),
    /// The handler returned an error with this text. The work is retried while attempts are left, after this delay or else by the step's
    /// schedule.
    Error(String, Option<Duration>),
    /// The handler returned a permanent error with this text, or its output cannot be stored: a further attempt would not help.
    Permanent(String),
    /// A value did not decode into the handler's types; a worker of another build may be able to take it.
    Undecodable(String),
    /// The handler passed its timeout.
    Timeout(String),
    /// The handler panicked with this text.
    Panic(String),
    /// The work was claimed as exhausted, and its handler was not called.
    LeaseExpired,
    /// The database has refused both the attempt's result and the record of its failure: the run is to fail with this text.
    GiveUp(String),
}

/// The most bytes of an error text that are sent to the database.
const ERROR_BYTES: usize = 8192;

/// Cuts an error text of more than 8 KB down to its beginning, followed by its full length.
fn capped(text: &str) -> String {
    // Postgres cannot store a zero character.
    let text = text.replace('\0', "\u{fffd}");
    if text.len() <= ERROR_BYTES {
        return text;
    }
    let end = text.floor_char_boundary(ERROR_BYTES);
    format!("{}… ({} bytes in all)", &text[..end], text.len())
}

impl Outcome {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Complete(_) => "complete",
            Self::Error(..) => "error",
            Self::Permanent(_) => "permanent",
            Self::Undecodable(_) => "undecodable",
            Self::Timeout(_) => "timeout",
            Self::Panic(_) => "panic",
            Self::LeaseExpired => "lease_expired",
            // Never sent as a settlement; see `give_up_attempt`.
            Self::GiveUp(_) => "permanent",
        }
    }

    /// How many bytes an exchange carries for this outcome, at most.
    pub(crate) fn bytes(&self) -> usize {
        self.output().map_or(ERROR_BYTES, str::len)
    }

    /// The output of a completed attempt.
    pub(crate) fn output(&self) -> Option<&str> {
        match self {
            Self::Complete(output) => Some(output),
            _ => None,
        }
    }

    /// The text of an attempt that did not succeed.
    pub(crate) fn error(&self) -> Option<String> {
        match self {
            Self::Complete(_) => None,
            Self::Error(text, _)
            | Self::Permanent(text)
            | Self::Undecodable(text)
            | Self::Timeout(text)
            | Self::Panic(text)
            | Self::GiveUp(text) => Some(capped(text)),
            Self::LeaseExpired => Some("the lease ended before the attempt was settled, and no attempt is left".into()),
        }
    }

    pub(super) fn delay_ms(&self) -> Option<i64> {
        match self {
            Self::Error(_, Some(delay)) => Some(i64::try_from(delay.as_millis()).unwrap_or(i64::MAX)),
            _ => None,
        }
    }
}
