//! The options of flows and steps: names, defaults and bounds.

use std::{fmt, ops::RangeInclusive};

use crate::duration::format_duration_ms;

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;

/// An option with a number: of attempts, or a length of time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumberOption {
    /// How often a task is tried.
    MaxAttempts,
    /// The wait before the first retry.
    BaseDelay,
    /// The longest wait before a retry.
    MaxDelay,
    /// How long a handler may run.
    Timeout,
    /// How long a task waits after its step became ready.
    StartDelay,
}

impl NumberOption {
    /// The option as it is written in Rust: `max_attempts`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxAttempts => "max_attempts",
            Self::BaseDelay => "base_delay",
            Self::MaxDelay => "max_delay",
            Self::Timeout => "timeout",
            Self::StartDelay => "start_delay",
        }
    }

    /// The value where neither flow nor step gives one.
    pub const fn default_value(self) -> u64 {
        match self {
            Self::MaxAttempts => 3,
            Self::BaseDelay => 1_000,
            Self::MaxDelay => 300_000,
            Self::Timeout => 60_000,
            Self::StartDelay => 0,
        }
    }

    /// The values allowed.
    pub const fn range(self) -> RangeInclusive<u64> {
        match self {
            Self::MaxAttempts => 1..=1_000,
            Self::Timeout => 1..=DAY_MS,
            Self::BaseDelay | Self::MaxDelay | Self::StartDelay => 0..=365 * DAY_MS,
        }
    }

    /// Checks `value` against [`NumberOption::range`].
    ///
    /// # Errors
    /// When the value is out of range.
    pub fn check(self, value: u64) -> Result<(), OutOfRange> {
        if self.range().contains(&value) { Ok(()) } else { Err(OutOfRange { option: self, value }) }
    }

    /// A value as it is written: `5`, or `30s`.
    pub fn format(self, value: u64) -> String {
        match self {
            Self::MaxAttempts => value.to_string(),
            _ => format_duration_ms(value),
        }
    }
}

/// An option's value lies outside its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfRange {
    /// The option.
    pub option: NumberOption,
    /// Its value.
    pub value: u64,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { option, value } = *self;
        let (low, high) = option.range().into_inner();
        let [low, high] = [low, high].map(|bound| option.format(bound));
        write!(f, "{} of {} is out of range; it is {low} to {high}", option.name(), option.format(value))
    }
}

impl std::error::Error for OutOfRange {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_part_of_the_text() {
        let text = |option: NumberOption, value| option.check(value).expect_err("out of range").to_string();
        assert_eq!(text(NumberOption::MaxAttempts, 0), "max_attempts of 0 is out of range; it is 1 to 1000");
        assert_eq!(text(NumberOption::Timeout, 0), "timeout of 0s is out of range; it is 1ms to 1d");
        assert_eq!(NumberOption::StartDelay.check(0), Ok(()));
    }

    #[test]
    fn each_option_has_its_least_and_its_most() {
        const YEAR_MS: u64 = 31_536_000_000;
        let bounds = [
            (NumberOption::MaxAttempts, 1, 1_000),
            (NumberOption::BaseDelay, 0, YEAR_MS),
            (NumberOption::MaxDelay, 0, YEAR_MS),
            (NumberOption::Timeout, 1, 86_400_000),
            (NumberOption::StartDelay, 0, YEAR_MS),
        ];
        for (option, least, most) in bounds {
            assert_eq!((option.check(least), option.check(most)), (Ok(()), Ok(())), "{option:?}");
            assert!(option.check(most + 1).is_err(), "{option:?}");
            assert!(least == 0 || option.check(least - 1).is_err(), "{option:?}");
        }
    }
}
