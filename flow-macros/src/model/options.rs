//! Reads options into values; a mistake is reported at its token.

mod reader;
mod synonyms;

use flow_core::{
    mode::Mode,
    options::{Attribute, NumberOption},
};
use proc_macro2::{Ident, Span};
use syn::{Path, Type};

use self::reader::Reader;
use crate::{
    diag::Diag,
    parse::{Json, Options},
};

/// A value with the place where an attribute gives it.
#[derive(Clone)]
pub(crate) struct Given<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// The numbers that an attribute gives: counts, or milliseconds.
#[derive(Default)]
pub(crate) struct GivenNumbers(Vec<(NumberOption, Given<u64>)>);

impl GivenNumbers {
    /// The value of `option`, where the attribute gives one.
    pub(crate) fn get(&self, option: NumberOption) -> Option<&Given<u64>> {
        self.iter().find(|(given, _)| *given == option).map(|(_, given)| given)
    }

    /// All numbers that the attribute gives, in the order in which messages list options.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NumberOption, &Given<u64>)> {
        self.0.iter().map(|(option, given)| (*option, given))
    }
}

/// The options of `#[flow]`.
pub(crate) struct FlowAttribute {
    pub(crate) input: Option<Type>,
    pub(crate) input_has_schema: bool,
    pub(crate) slug: Option<Given<String>>,
    pub(crate) numbers: GivenNumbers,
    /// What the names of generated types begin with.
    pub(crate) names: Option<Ident>,
    /// Whether the user asked for structs of dependencies.
    pub(crate) has_deps: bool,
    pub(crate) krate: Option<Path>,
}

impl FlowAttribute {
    pub(super) fn read(options: &Options, diag: &mut Diag) -> Self {
        let mut reader = Reader::new(options, Attribute::Flow, diag);
        let input = reader.take("input");
        if input.is_none() && !reader.has_failed {
            let text = "a flow says the type of its input: `#[flow(input = Order)]`";
            reader.diag.at_span(Span::call_site(), text);
        }
        Self {
            input: input.and_then(|input| reader.parse(&input, "a type, as in `input = Order`")),
            input_has_schema: !reader.is_any_schema("input_schema"),
            slug: reader.text("slug"),
            numbers: reader.numbers(),
            names: reader.word("names", "the word that generated names begin with, as in `names = Checkout`"),
            has_deps: reader.flag("deps").is_some(),
            krate: reader.take("crate").and_then(|path| {
                reader.parse_with(&path, Path::parse_mod_style, "a path, as in `crate = my_app::flow`")
            }),
        }
    }
}

/// The options of `#[step]` or `#[map]`.
pub(crate) struct StepAttribute {
    pub(crate) slug: Option<Given<String>>,
    pub(crate) variant: Option<Ident>,
    pub(crate) over: Option<Ident>,
    pub(crate) after: Vec<Ident>,
    pub(crate) run_if: Option<Given<Json>>,
    pub(crate) run_unless: Option<Given<Json>>,
    pub(crate) when_unmet: Option<Given<Mode>>,
    pub(crate) when_exhausted: Option<Given<Mode>>,
    pub(crate) blocking: Option<Span>,
    pub(crate) has_schema: bool,
    pub(crate) numbers: GivenNumbers,
    /// Whether an option was refused.
    pub(crate) has_failed: bool,
}

impl StepAttribute {
    pub(super) fn read(options: &Options, is_map: bool, diag: &mut Diag) -> Self {
        let mut reader = Reader::new(options, if is_map { Attribute::Map } else { Attribute::Step }, diag);
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
            numbers: reader.numbers(),
            has_failed: reader.has_failed,
        }
    }
}
