//! The one list of options: what `#[flow]`, `#[step]`, `#[map]` and the builders take.
//!
//! Each entry of the table gives an option's name, bounds and default, the fields of [`FlowOptions`] and [`StepOptions`], the methods
//! of the builders, what the macros read and suggest, the tables of `docs/dsl.md`, and the list by which the database checks and stores
//! (`flow-runtime/sql/definition/list_options.sql`). How to add an option: `docs/decisions/0015-one-list-of-options.md`.

use std::{fmt, ops::RangeInclusive, time::Duration};

use crate::duration::format_duration_ms;

#[macro_use]
mod table;
#[cfg(all(test, feature = "definition"))]
mod written;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const DAY: u64 = 24 * 60 * MINUTE;

// Each entry: the variant of `NumberOption`; the option as it is written, with the type that the builders take for it; its name in the
// definition's JSON and its column in `flow.step`; the values allowed; the value where none is given. A length of time is in
// milliseconds. A step takes the options of flows too, and then its own value applies.
number_options! {
    of flows and steps {
        /// How often a task is tried.
        MaxAttempts: max_attempts(u32)      as max_attempts,   1..=1_000,     default 3;
        /// The wait before the first retry.
        BaseDelay:   base_delay(Duration)   as base_delay_ms,  0..=365 * DAY, default SECOND;
        /// The longest wait before a retry, not below the `base_delay` that applies.
        MaxDelay:    max_delay(Duration)    as max_delay_ms,   0..=365 * DAY, default 5 * MINUTE;
        /// How long a handler may run.
        Timeout:     timeout(Duration)      as timeout_ms,     1..=DAY,       default MINUTE;
    }
    of steps alone {
        /// How long a task waits after its step became ready.
        StartDelay:  start_delay(Duration)  as start_delay_ms, 0..=365 * DAY, default 0;
        /// Which work of a queue comes first: that of 1, then that of 2, and so on. On a queue of pgmq delivery it is refused.
        Priority:    priority(u32)          as priority,       1..=9,         default 5;
    }
}

const FLOWS: &[Attribute] = &[Attribute::Flow];
const STEPS: &[Attribute] = &[Attribute::Step, Attribute::Map];
const MAPS: &[Attribute] = &[Attribute::Map];

// Each entry: the option's name, who takes it, what it takes, the default, and what it means.

/// The options without a number that messages and docs list before those with one.
const FIRST: [WordOption; 5] = [
    word(
        "input",
        FLOWS,
        "a type",
        "required",
        "`Serialize`, `Deserialize`, `JsonSchema`, owned, `Send`, at least as visible as the flow",
    ),
    word("over", MAPS, "`input` or a method", "required in `#[map]`", "a list; not in `#[step]`"),
    word("slug", FLOWS, "text", "the type's name in snake case", "1 to 47 characters, see [slugs](#slugs)"),
    word("slug", STEPS, "text", "the method's name", "1 to 128 characters, not reserved, see [slugs](#slugs)"),
    word("after", STEPS, "methods in parentheses", "none", "each once, and not also taken as a parameter"),
];

/// The options without a number that messages and docs list after those with one.
const LAST: [WordOption; 11] = [
    word("run_if", STEPS, "JSON", "none", "an object of dependencies by slug, in a step that has some"),
    word("run_unless", STEPS, "JSON", "none", "as `run_if`; both may be given"),
    word("when_unmet", STEPS, "`skip`, `skip_cascade`, `fail`", "`skip`", "only with a condition"),
    word("when_exhausted", STEPS, "`skip`, `skip_cascade`, `fail`", "`fail`", ""),
    word("blocking", STEPS, "flag", "off", "on a plain `fn`, and required there"),
    word("schema", STEPS, "`any`", "the output's JSON Schema", "drops the bound `JsonSchema`"),
    word(
        "variant",
        STEPS,
        "a name",
        "the method's name in UpperCamelCase",
        "differs from the others, also as a constant in SHOUTY_SNAKE_CASE",
    ),
    word("input_schema", FLOWS, "`any`", "the input's JSON Schema", "drops the bound `JsonSchema`"),
    word(
        "names",
        FLOWS,
        "a name",
        "the type's name",
        "what the names of the step enum, the output and the dependency structs begin with",
    ),
    word("deps", FLOWS, "flag", "off", "makes a struct of what each step takes from others"),
    word("crate", FLOWS, "a path", "the name of `flow-runtime` in `Cargo.toml`", "where the runtime is found"),
];

/// An attribute that takes options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribute {
    /// `#[flow]`.
    Flow,
    /// `#[step]`.
    Step,
    /// `#[map]`.
    Map,
}

impl Attribute {
    /// The attribute as it is written: `#[flow]`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Flow => "#[flow]",
            Self::Step => "#[step]",
            Self::Map => "#[map]",
        }
    }

    /// The options without a number that stand before those with one, and those that stand after them.
    pub fn word_options(self) -> [Vec<WordOption>; 2] {
        let of_this = |list: &[WordOption]| list.iter().filter(|option| option.of.contains(&self)).copied().collect();
        [of_this(&FIRST), of_this(&LAST)]
    }

    /// The options with a number that the attribute takes, in the order in which messages list them.
    pub const fn number_options(self) -> &'static [NumberOption] {
        match self {
            Self::Flow => NumberOption::OF_FLOWS,
            Self::Step | Self::Map => NumberOption::OF_STEPS,
        }
    }

    /// The names of all options that the attribute takes, in the order in which messages list them.
    pub fn option_names(self) -> Vec<&'static str> {
        let [first, last] = self.word_options();
        let numbers = self.number_options().iter().map(|option| option.name());
        first.iter().map(|option| option.name).chain(numbers).chain(last.iter().map(|option| option.name)).collect()
    }
}

/// An option without a number, with the words that `docs/dsl.md` has for it.
#[derive(Debug, Clone, Copy)]
pub struct WordOption {
    /// The option as it is written: `run_if`.
    pub name: &'static str,
    /// The attributes that take the option.
    pub of: &'static [Attribute],
    /// What is written after the option's name.
    pub takes: &'static str,
    /// The default, where the option is not given.
    pub default: &'static str,
    /// What the option means, with its bounds.
    pub means: &'static str,
}

const fn word(
    name: &'static str,
    of: &'static [Attribute],
    takes: &'static str,
    default: &'static str,
    means: &'static str,
) -> WordOption {
    WordOption { name, of, takes, default, means }
}

/// The unit of an option's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A count: written as a whole number.
    Count,
    /// Milliseconds: written as a duration, such as `"30s"`.
    Milliseconds,
}

/// A type that a builder takes as the number of an option.
trait BuilderNumber {
    const UNIT: Unit;

    #[cfg(feature = "definition")]
    fn into_number(self) -> u64;
}

impl BuilderNumber for u32 {
    const UNIT: Unit = Unit::Count;

    #[cfg(feature = "definition")]
    fn into_number(self) -> u64 {
        self.into()
    }
}

impl BuilderNumber for Duration {
    const UNIT: Unit = Unit::Milliseconds;

    /// Whole milliseconds. A duration beyond `u64` becomes `u64::MAX`, so that the bounds check refuses it.
    #[cfg(feature = "definition")]
    fn into_number(self) -> u64 {
        u64::try_from(self.as_millis()).unwrap_or(u64::MAX)
    }
}

impl NumberOption {
    /// Checks `value` against [`NumberOption::range`].
    ///
    /// # Errors
    /// When the value is out of range.
    pub fn check(self, value: u64) -> Result<(), OutOfRange> {
        if self.range().contains(&value) { Ok(()) } else { Err(OutOfRange { option: self, value }) }
    }

    /// The value as messages show it: `5`, or `30s`.
    pub fn format(self, value: u64) -> String {
        match self.unit() {
            Unit::Count => value.to_string(),
            Unit::Milliseconds => format_duration_ms(value),
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
            (NumberOption::Priority, 1, 9),
        ];
        for (option, least, most) in bounds {
            assert_eq!((option.check(least), option.check(most)), (Ok(()), Ok(())), "{option:?}");
            assert!(option.check(most + 1).is_err(), "{option:?}");
            assert!(least == 0 || option.check(least - 1).is_err(), "{option:?}");
        }
    }

    #[test]
    fn each_option_lies_within_its_own_bounds_and_has_one_name() {
        let mut names: Vec<&str> = [Attribute::Flow, Attribute::Map].iter().flat_map(|on| on.option_names()).collect();
        names.sort_unstable();
        let shared = NumberOption::OF_FLOWS.len() + 1;
        let count = names.len();
        names.dedup();
        assert_eq!(count - names.len(), shared, "flows and steps share their numbers and `slug`: {names:?}");
        for option in NumberOption::OF_STEPS {
            assert_eq!(option.check(option.default_value()), Ok(()), "{option:?}");
        }
    }
}
