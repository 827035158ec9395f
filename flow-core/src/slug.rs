//! The rules for slugs: how flows and steps may be named.

use std::fmt;

use crate::queue_name::MAX_QUEUE_NAME;

/// The longest slug of a flow, in characters: the longest name of a queue.
pub const MAX_FLOW_SLUG: usize = MAX_QUEUE_NAME;

/// The longest slug of a step, in characters.
pub const MAX_STEP_SLUG: usize = 128;

/// Slugs that no step may have, in any letter case, because parameters and data use these names.
pub const RESERVED_STEP_SLUGS: [&str; 5] = ["run", "input", "item", "ctx", "deps"];

/// Why a text is not a slug.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SlugError {
    /// The text is empty.
    Empty,
    /// The text does not begin with an ASCII letter.
    Start(char),
    /// The text contains something other than ASCII letters, digits and `_`.
    Character(char),
    /// The text ends with `_`.
    End,
    /// The text contains `__`, which separates flow and step in names of queues.
    DoubleUnderscore,
    /// The text is longer than `limit` characters.
    TooLong {
        /// The text's length in characters.
        length: usize,
        /// The longest length that is allowed.
        limit: usize,
    },
    /// The text is one of [`RESERVED_STEP_SLUGS`], in some letter case.
    Reserved,
}

impl fmt::Display for SlugError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("is empty; a slug begins with a letter"),
            Self::Start('_') => f.write_str("begins with `_`; a slug begins with a letter"),
            Self::Start(found) => write!(f, "begins with `{found}`; a slug begins with an ASCII letter"),
            Self::Character(found) => {
                write!(f, "contains `{}`; a slug has ASCII letters, digits and single `_` only", found.escape_debug())
            }
            Self::End => f.write_str("ends with `_`; a slug ends with a letter or a digit"),
            Self::DoubleUnderscore => {
                f.write_str("contains `__`, which separates flow and step in names of queues; use a single `_`")
            }
            Self::TooLong { length, limit } => write!(f, "is {length} characters long; at most {limit} are allowed"),
            Self::Reserved => write!(f, "is reserved; {} cannot name a step", Quoted(&RESERVED_STEP_SLUGS)),
        }
    }
}

impl std::error::Error for SlugError {}

/// Checks the slug of a flow.
///
/// # Errors
/// The first rule that `slug` breaks.
pub fn check_flow_slug(slug: &str) -> Result<(), SlugError> {
    check_slug(slug, MAX_FLOW_SLUG)
}

/// Checks the slug of a step.
///
/// # Errors
/// The first rule that `slug` breaks.
pub fn check_step_slug(slug: &str) -> Result<(), SlugError> {
    check_slug(slug, MAX_STEP_SLUG)?;
    let is_reserved = RESERVED_STEP_SLUGS.iter().any(|reserved| reserved.eq_ignore_ascii_case(slug));
    if is_reserved { Err(SlugError::Reserved) } else { Ok(()) }
}

fn check_slug(slug: &str, limit: usize) -> Result<(), SlugError> {
    let first = slug.chars().next().ok_or(SlugError::Empty)?;
    if !first.is_ascii_alphabetic() {
        return Err(SlugError::Start(first));
    }
    if let Some(found) = slug.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '_') {
        return Err(SlugError::Character(found));
    }
    if slug.ends_with('_') {
        return Err(SlugError::End);
    }
    if slug.contains("__") {
        return Err(SlugError::DoubleUnderscore);
    }
    let length = slug.len();
    if length > limit { Err(SlugError::TooLong { length, limit }) } else { Ok(()) }
}

/// Joins the reserved slugs into a list for messages: `` `a`, `b` and `c` ``.
struct Quoted<'a>(&'a [&'a str]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, word) in self.0.iter().enumerate() {
            let joint = match place {
                0 => "",
                _ if place + 1 == self.0.len() => " and ",
                _ => ", ",
            };
            write!(f, "{joint}`{word}`")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // D5
    #[test]
    fn legal_slugs_are_accepted_for_flows_and_steps() {
        for slug in ["a", "order", "fulfil_order", "Step2", "myFlow"] {
            assert_eq!((check_flow_slug(slug), check_step_slug(slug)), (Ok(()), Ok(())), "{slug}");
        }
    }

    // D5
    #[test]
    fn illegal_slugs_are_refused_for_flows_and_steps() {
        for slug in ["", "1a", "_a", "a_", "a__b", "a-b", "a b", "é", "aé", "__", "_"] {
            assert!(check_flow_slug(slug).is_err() && check_step_slug(slug).is_err(), "{slug}");
        }
    }

    // D6
    #[test]
    fn reserved_step_slugs_are_refused_in_any_case() {
        for slug in ["run", "Input", "ITEM", "ctx", "dEps"] {
            assert_eq!(check_step_slug(slug), Err(SlugError::Reserved), "{slug}");
            assert_eq!(check_flow_slug(slug), Ok(()), "{slug}");
        }
    }

    // D7
    #[test]
    fn slugs_have_a_longest_length() {
        let of = |length: usize| "a".repeat(length);
        assert_eq!(check_step_slug(&of(128)), Ok(()));
        assert_eq!(check_step_slug(&of(129)), Err(SlugError::TooLong { length: 129, limit: 128 }));
        assert_eq!(check_flow_slug(&of(47)), Ok(()));
        assert_eq!(check_flow_slug(&of(48)), Err(SlugError::TooLong { length: 48, limit: 47 }));
    }

    #[test]
    fn the_reserved_text_lists_the_words() {
        let text = SlugError::Reserved.to_string();
        assert_eq!(text, "is reserved; `run`, `input`, `item`, `ctx` and `deps` cannot name a step");
    }
}
