//! Options read into values; what does not fit is reported at its token.

mod reader;
mod synonyms;

use std::collections::HashMap;

use flow_core::{mode::Mode, options::NumberOption};
use proc_macro2::{Ident, Span};
use syn::{Path, Type};

use self::reader::Reader;
use crate::{
    diag::Diag,
    parse::{Json, Options},
};

/// A value with the place where it was said.
#[derive(Clone)]
pub(crate) struct Said<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// Options with a number: attempts, or milliseconds.
#[derive(Default)]
pub(crate) struct Numbers(HashMap<&'static str, (NumberOption, Said<u64>)>);

impl Numbers {
    /// The value of `option`, where it was said.
    pub(crate) fn get(&self, option: NumberOption) -> Option<&Said<u64>> {
        self.0.get(option.name()).map(|(_, said)| said)
    }

    /// Everything that was said.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NumberOption, &Said<u64>)> {
        ALL_NUMBERS.into_iter().filter_map(|option| Some((option, self.get(option)?)))
    }
}

/// The options with a number, as messages list them.
const ALL_NUMBERS: [NumberOption; 5] = [
    NumberOption::MaxAttempts,
    NumberOption::BaseDelay,
    NumberOption::MaxDelay,
    NumberOption::Timeout,
    NumberOption::StartDelay,
];

const FLOW_OPTIONS: [&str; 10] =
    ["input", "slug", "max_attempts", "base_delay", "max_delay", "timeout", "input_schema", "names", "deps", "crate"];

const STEP_OPTIONS: [&str; 14] = [
    "slug",
    "after",
    "max_attempts",
    "base_delay",
    "max_delay",
    "timeout",
    "start_delay",
    "run_if",
    "run_unless",
    "when_unmet",
    "when_exhausted",
    "blocking",
    "schema",
    "variant",
];

/// The options of `#[flow]`.
pub(crate) struct FlowOptions {
    pub(crate) input: Option<Type>,
    pub(crate) input_has_schema: bool,
    pub(crate) slug: Option<Said<String>>,
    pub(crate) numbers: Numbers,
    /// What the names of generated types begin with.
    pub(crate) names: Option<Ident>,
    /// Whether structs of dependencies were asked for.
    pub(crate) has_deps: bool,
    pub(crate) krate: Option<Path>,
}

impl FlowOptions {
    pub(super) fn read(options: &Options, diag: &mut Diag) -> Self {
        let mut reader = Reader::new(options, "#[flow]", &FLOW_OPTIONS, diag);
        let input = reader.take("input");
        if input.is_none() && !reader.has_failed {
            let text = "a flow says the type of its input: `#[flow(input = Order)]`";
            reader.diag.at_span(Span::call_site(), text);
        }
        Self {
            input: input.and_then(|input| reader.parse(&input, "a type, as in `input = Order`")),
            input_has_schema: !reader.is_any_schema("input_schema"),
            slug: reader.text("slug"),
            numbers: reader.numbers(&ALL_NUMBERS[..4]),
            names: reader.word("names", "the word that generated names begin with, as in `names = Checkout`"),
            has_deps: reader.flag("deps").is_some(),
            krate: reader.take("crate").and_then(|path| {
                reader.parse_with(&path, Path::parse_mod_style, "a path, as in `crate = my_app::flow`")
            }),
        }
    }
}

/// The options of `#[step]` and `#[map]`.
pub(crate) struct StepOptions {
    pub(crate) slug: Option<Said<String>>,
    pub(crate) variant: Option<Ident>,
    pub(crate) over: Option<Ident>,
    pub(crate) after: Vec<Ident>,
    pub(crate) run_if: Option<Said<Json>>,
    pub(crate) run_unless: Option<Said<Json>>,
    pub(crate) when_unmet: Option<Said<Mode>>,
    pub(crate) when_exhausted: Option<Said<Mode>>,
    pub(crate) blocking: Option<Span>,
    pub(crate) has_schema: bool,
    pub(crate) numbers: Numbers,
    /// Whether an option was refused.
    pub(crate) has_failed: bool,
}

impl StepOptions {
    pub(super) fn read(options: &Options, is_map: bool, diag: &mut Diag) -> Self {
        let mut known = STEP_OPTIONS.to_vec();
        if is_map {
            known.insert(0, "over");
        }
        let mut reader = Reader::new(options, if is_map { "#[map]" } else { "#[step]" }, &known, diag);
        Self {
            slug: reader.text("slug"),
            variant: reader.word("variant", "a name, as in `variant = Ship`"),
            over: reader.source("over"),
            after: reader.words("after"),
            run_if: reader.json("run_if"),
            run_unless: reader.json("run_unless"),
            when_unmet: reader.mode("when_unmet"),
            when_exhausted: reader.mode("when_exhausted"),
            blocking: reader.flag("blocking"),
            has_schema: !reader.is_any_schema("schema"),
            numbers: reader.numbers(&ALL_NUMBERS),
            has_failed: reader.has_failed,
        }
    }
}
