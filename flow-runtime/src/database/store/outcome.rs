//! How an attempt ended, as the database is told.

use std::time::Duration;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// With this output, as JSON text.
    Complete(String),
    /// With an error that is retried while attempts are left, after this delay or else the step's own.
    Error(String, Option<Duration>),
    /// With an error that no further attempt could mend.
    Permanent(String),
    /// A value did not decode into the handler's types; a worker of another build may be able to take it.
    Undecodable(String),
    /// The handler passed its timeout.
    Timeout(String),
    /// The handler panicked with this text.
    Panic(String),
    /// It was claimed as exhausted.
    LeaseExpired,
    /// The database has refused the result whatever it was: the run is to fail with this text.
    GiveUp(String),
}

/// The most bytes of an error text that are kept.
const ERROR_BYTES: usize = 8192;

/// An error text that is kept whole up to 8 KB; of a longer one the beginning and its length are.
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

    /// How much an exchange has to carry of it.
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
