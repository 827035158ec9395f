//! Lengths of time as people write them: `"30s"`, `"250ms"`.

use std::fmt;

/// The units, longest last, with their milliseconds.
const UNITS: [(&str, u64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// Why a text is not a length of time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DurationError {
    /// The text does not begin with a number.
    NoNumber,
    /// No unit follows the number.
    NoUnit,
    /// The unit is none of `ms`, `s`, `m`, `h`, `d`.
    Unit(String),
    /// The number is not whole, or too large.
    Number(String),
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNumber => f.write_str("a duration begins with a number, as in \"30s\""),
            Self::NoUnit => f.write_str("a duration needs a unit: ms, s, m, h or d, as in \"30s\""),
            Self::Unit(unit) => write!(f, "`{unit}` is no unit of time; use ms, s, m, h or d, as in \"30s\""),
            Self::Number(number) => {
                write!(f, "`{number}` is no whole number of this unit; use a smaller unit, as in \"1500ms\"")
            }
        }
    }
}

impl std::error::Error for DurationError {}

/// Parses a length of time into milliseconds: `"250ms"`, `"30s"`, `"5m"`, `"24h"`, `"365d"`.
///
/// # Errors
/// When the number or its unit is missing or wrong.
pub fn parse_duration_ms(text: &str) -> Result<u64, DurationError> {
    let text = text.trim();
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = (&text[..unit_at], text[unit_at..].trim_start());
    if number.is_empty() {
        return Err(DurationError::NoNumber);
    }
    if unit.is_empty() {
        return Err(DurationError::NoUnit);
    }
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    let (_, factor) = known.ok_or_else(|| DurationError::Unit(unit.to_owned()))?;
    let whole: Option<u64> = number.replace('_', "").parse().ok();
    whole.and_then(|whole| whole.checked_mul(*factor)).ok_or_else(|| DurationError::Number(number.to_owned()))
}

/// Writes milliseconds in the largest unit that leaves a whole number: `90000` is `90s`.
pub fn format_duration_ms(ms: u64) -> String {
    let fits = |(_, factor): &&(&str, u64)| ms.is_multiple_of(*factor) && ms >= *factor;
    let (unit, factor) = UNITS.iter().rev().find(fits).unwrap_or(&("s", 1_000));
    format!("{}{unit}", ms / factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_number_and_a_unit() {
        let read =
            [("250ms", 250), ("30s", 30_000), ("5m", 300_000), ("24h", 86_400_000), ("0s", 0), ("1_000 ms", 1_000)];
        for (text, ms) in read {
            assert_eq!(parse_duration_ms(text), Ok(ms), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(parse_duration_ms("30"), Err(DurationError::NoUnit));
        assert_eq!(parse_duration_ms("s"), Err(DurationError::NoNumber));
        assert_eq!(parse_duration_ms("-1s"), Err(DurationError::NoNumber));
        assert_eq!(parse_duration_ms("3 weeks"), Err(DurationError::Unit("weeks".into())));
        assert_eq!(parse_duration_ms("1.5s"), Err(DurationError::Number("1.5".into())));
        assert_eq!(
            parse_duration_ms("99999999999999999999d"),
            Err(DurationError::Number("99999999999999999999".into()))
        );
    }

    #[test]
    fn durations_are_written_in_their_largest_unit() {
        let written = [(0, "0s"), (250, "250ms"), (90_000, "90s"), (3_600_000, "1h"), (86_400_000 * 365, "365d")];
        for (ms, text) in written {
            assert_eq!(format_duration_ms(ms), text);
        }
    }

    #[test]
    fn a_mistake_says_how_a_duration_is_written() {
        let text = |written: &str| parse_duration_ms(written).expect_err("no duration").to_string();
        assert_eq!(text("s"), "a duration begins with a number, as in \"30s\"");
        assert_eq!(text("30"), "a duration needs a unit: ms, s, m, h or d, as in \"30s\"");
        assert_eq!(text("3 weeks"), "`weeks` is no unit of time; use ms, s, m, h or d, as in \"30s\"");
        assert_eq!(text("1.5s"), "`1.5` is no whole number of this unit; use a smaller unit, as in \"1500ms\"");
    }
}
