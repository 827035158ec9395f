//! Options read into values; what does not fit is reported at its token.

use std::collections::HashMap;

use flow_core::{duration::parse_duration_ms, mode::Mode, near::near_miss, options::NumberOption};
use proc_macro2::{Ident, Span, TokenStream};
use syn::{LitInt, LitStr, Path, Token, Type, ext::IdentExt, parse::Parser, punctuated::Punctuated};

use crate::{
    diag::Diag,
    parse::{Form, Json, Written},
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
pub(crate) const ALL_NUMBERS: [NumberOption; 5] = [
    NumberOption::MaxAttempts,
    NumberOption::BaseDelay,
    NumberOption::MaxDelay,
    NumberOption::Timeout,
    NumberOption::StartDelay,
];

const FLOW_OPTIONS: [&str; 8] =
    ["input", "slug", "max_attempts", "base_delay", "max_delay", "timeout", "input_schema", "crate"];

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
    pub(crate) krate: Option<Path>,
}

impl FlowOptions {
    pub(super) fn read(written: &[Written], diag: &mut Diag) -> Self {
        let mut reader = Reader::new(written, "#[flow]", &FLOW_OPTIONS, diag);
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
    pub(super) fn read(written: &[Written], is_map: bool, diag: &mut Diag) -> Self {
        let mut known = STEP_OPTIONS.to_vec();
        if is_map {
            known.insert(0, "over");
        }
        let mut reader = Reader::new(written, if is_map { "#[map]" } else { "#[step]" }, &known, diag);
        Self {
            slug: reader.text("slug"),
            variant: reader.word("variant", "a name, as in `variant = Ship`"),
            over: reader.word("over", "the name of a step or `input`, as in `over = reserve`"),
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

/// Hands out the options of one attribute.
struct Reader<'a> {
    options: HashMap<String, Written>,
    attribute: &'static str,
    /// Whether an option was refused, so that a missing one may be that one.
    has_failed: bool,
    diag: &'a mut Diag,
}

impl<'a> Reader<'a> {
    fn new(written: &[Written], attribute: &'static str, known: &[&str], diag: &'a mut Diag) -> Self {
        let mut reader = Self { options: HashMap::new(), attribute, has_failed: false, diag };
        for option in written {
            let key = option.key.unraw().to_string();
            if !known.contains(&key.as_str()) {
                reader.refuse_unknown(option, &key, known);
            } else if let Some(first) = reader.options.insert(key.clone(), option.clone()) {
                reader.options.insert(key.clone(), first);
                reader.diag.at(&option.key, format!("`{key}` is given twice; give it once"));
            }
        }
        reader
    }

    fn refuse_unknown(&mut self, option: &Written, key: &str, known: &[&str]) {
        let attribute = self.attribute;
        let text = match (key, near_miss(key, known.iter().copied())) {
            ("queue", _) => format!(
                "`{attribute}` has no option `queue`; queues are said beside the flow, with `with_step_queues!` (one private queue a step) or `route_flow!` (named queues)"
            ),
            ("over", _) => "`over` belongs to `#[map]`; write `#[map(over = …)]` for one task an element".to_owned(),
            ("start_delay", _) => "`start_delay` belongs to a step; write `#[step(start_delay = \"5m\")]`".to_owned(),
            (_, Some(near)) => {
                self.has_failed = true;
                format!("`{attribute}` has no option `{key}`; did you mean `{near}`?")
            }
            (_, None) => format!("`{attribute}` has no option `{key}`; it has {}", known.join(", ")),
        };
        self.diag.at(&option.key, text);
    }

    fn take(&mut self, key: &str) -> Option<Written> {
        self.options.remove(key)
    }

    /// The value's tokens, or a report that there is none.
    fn value<'w>(&mut self, option: &'w Written, expected: &str) -> Option<&'w TokenStream> {
        match &option.form {
            Form::Value(tokens) if !tokens.is_empty() => Some(tokens),
            _ => {
                self.has_failed = true;
                self.diag.at(&option.key, format!("`{}` takes {expected}", option.key));
                None
            }
        }
    }

    fn parse<T: syn::parse::Parse>(&mut self, option: &Written, expected: &str) -> Option<T> {
        self.parse_with(option, T::parse, expected)
    }

    fn parse_with<P: Parser>(&mut self, option: &Written, parser: P, expected: &str) -> Option<P::Output> {
        let tokens = self.value(option, expected)?;
        match parser.parse2(tokens.clone()) {
            Ok(value) => Some(value),
            Err(_) => {
                self.has_failed = true;
                self.diag.at_span(option.value_span(), format!("`{}` takes {expected}", option.key));
                None
            }
        }
    }

    fn text(&mut self, key: &str) -> Option<Said<String>> {
        let option = self.take(key)?;
        let text: LitStr = self.parse(&option, "a string, as in `slug = \"fulfil_order\"`")?;
        Some(Said { value: text.value(), span: text.span() })
    }

    fn word(&mut self, key: &str, expected: &str) -> Option<Ident> {
        let option = self.take(key)?;
        self.parse_with(&option, Ident::parse_any, expected)
    }

    fn words(&mut self, key: &str) -> Vec<Ident> {
        let Some(option) = self.take(key) else { return Vec::new() };
        let expected = "names of steps in parentheses, as in `after(reserve, charge)`";
        let Form::List(tokens) = &option.form else {
            self.diag.at(&option.key, format!("`{key}` takes {expected}"));
            return Vec::new();
        };
        let names = Punctuated::<Ident, Token![,]>::parse_terminated.parse2(tokens.clone());
        match names {
            Ok(names) if !names.is_empty() => names.into_iter().collect(),
            _ => {
                self.diag.at_span(option.value_span(), format!("`{key}` takes {expected}"));
                Vec::new()
            }
        }
    }

    fn flag(&mut self, key: &str) -> Option<Span> {
        let option = self.take(key)?;
        if !matches!(option.form, Form::Flag) {
            self.diag.at(&option.key, format!("`{key}` takes no value; write `{key}` alone"));
        }
        Some(option.key.span())
    }

    fn is_any_schema(&mut self, key: &str) -> bool {
        let expected = "the word `any`, for a type without `JsonSchema`";
        let Some(option) = self.take(key) else { return false };
        let word: Option<Ident> = self.parse(&option, expected);
        if word.as_ref().is_some_and(|word| word != "any") {
            self.diag.at(word, format!("`{key}` takes {expected}"));
        }
        true
    }

    fn json(&mut self, key: &str) -> Option<Said<Json>> {
        let option = self.take(key)?;
        let tokens = self.value(&option, "JSON, as in `{ \"gift\": true }`")?.clone();
        let value = self.diag.ok(syn::parse2(tokens))?;
        Some(Said { value, span: option.value_span() })
    }

    fn mode(&mut self, key: &str) -> Option<Said<Mode>> {
        let option = self.take(key)?;
        let expected = "one of `skip`, `skip_cascade`, `fail`";
        let word: Ident = self.parse(&option, expected)?;
        let written = word.to_string();
        let mode = Mode::from_name(&written);
        if mode.is_none() {
            let near = near_miss(&written, Mode::ALL.map(Mode::as_str));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            self.diag.at(&word, format!("`{key}` takes {expected}, not `{written}`{hint}"));
        }
        Some(Said { value: mode?, span: word.span() })
    }

    fn numbers(&mut self, options: &[NumberOption]) -> Numbers {
        let mut numbers = Numbers::default();
        for &option in options {
            if let Some(said) = self.number(option) {
                numbers.0.insert(option.name(), (option, said));
            }
        }
        numbers
    }

    fn number(&mut self, option: NumberOption) -> Option<Said<u64>> {
        let written = self.take(option.name())?;
        if option == NumberOption::MaxAttempts {
            let number: LitInt = self.parse(&written, "a whole number, as in `max_attempts = 5`")?;
            let value = self.diag.ok(number.base10_parse())?;
            return Some(Said { value, span: number.span() });
        }
        let text: LitStr = self.parse(&written, "a duration as a string, as in \"30s\"")?;
        match parse_duration_ms(&text.value()) {
            Ok(value) => Some(Said { value, span: text.span() }),
            Err(error) => {
                self.diag.at(&text, format!("`{}`: {error}", option.name()));
                None
            }
        }
    }
}
