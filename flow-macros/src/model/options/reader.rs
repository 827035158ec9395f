//! Hands out the options of one attribute as values, and reports options and values that do not fit.

use std::collections::HashMap;

use flow_core::{
    duration::parse_duration_ms,
    mode::Mode,
    near::near_miss,
    options::{Attribute, NumberOption, Unit},
};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::{LitInt, LitStr, Token, ext::IdentExt, parse::Parser, punctuated::Punctuated};

use super::{Given, GivenNumbers, synonyms};
use crate::{
    diag::Diag,
    parse::{Form, Json, Options, Written},
    text::type_text,
};

/// Hands out the options of one attribute.
pub(super) struct Reader<'a> {
    options: HashMap<String, Written>,
    attribute: Attribute,
    /// Whether an option was refused. A required option that is missing may be the refused one, so it is not reported as well.
    pub(super) has_failed: bool,
    pub(super) diag: &'a mut Diag,
}

impl<'a> Reader<'a> {
    pub(super) fn new(options: &Options, attribute: Attribute, diag: &'a mut Diag) -> Self {
        let known = attribute.option_names();
        let mut reader = Self { options: HashMap::new(), attribute, has_failed: options.has_unread, diag };
        let mut unknown = Vec::new();
        for option in &options.written {
            let key = option.key.unraw().to_string();
            if !known.contains(&key.as_str()) {
                unknown.push(option);
            } else if let Some(first) = reader.options.insert(key.clone(), option.clone()) {
                reader.options.insert(key.clone(), first);
                reader.diag.at(&option.key, format!("`{key}` is given twice; give it once"));
            }
        }
        reader.refuse_unknown(&unknown, &known);
        reader
    }

    /// Reports all unknown options as one mistake: who writes another engine's options writes several of them.
    fn refuse_unknown(&mut self, unknown: &[&Written], known: &[&str]) {
        let Some(first) = unknown.first() else { return };
        let texts: Vec<String> = unknown.iter().map(|option| self.describe_unknown(option, known)).collect();
        self.diag.at(&first.key, texts.join("; "));
    }

    fn describe_unknown(&mut self, option: &Written, known: &[&str]) -> String {
        let (attribute, key) = (self.attribute.as_str(), option.key.unraw().to_string());
        if let Some(text) = self.describe_bare(option, &key) {
            self.has_failed = true;
            return text;
        }
        if let Some(hint) = synonyms::hint(&key, self.attribute) {
            self.has_failed |= hint.is_instead_of("over") || hint.is_instead_of("input");
            return format!("`{attribute}` has no option `{key}`; {}", hint.text);
        }
        match near_miss(&key, known.iter().copied()) {
            Some(near) => {
                self.has_failed = true;
                format!("`{attribute}` has no option `{key}`; did you mean `{near}`?")
            }
            None => format!("`{attribute}` has no option `{key}`; it has {}", known.join(", ")),
        }
    }

    /// Describes a single word that is no option, as a type or a map's source without its option's name; `None` when
    /// there is nothing to say.
    fn describe_bare(&self, option: &Written, key: &str) -> Option<String> {
        if !matches!(option.form, Form::Flag) || synonyms::is_known(key) {
            return None;
        }
        match self.attribute {
            Attribute::Flow if !self.options.contains_key("input") => {
                Some(format!("`#[flow]` takes its options by name; write `input = {key}`"))
            }
            Attribute::Map if !self.options.contains_key("over") => {
                Some(format!("`#[map]` takes its options by name; write `over = {key}`"))
            }
            _ => None,
        }
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Written> {
        self.options.remove(key)
    }

    /// Returns the value's tokens; reports an option without a value.
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

    pub(super) fn parse<T: syn::parse::Parse>(&mut self, option: &Written, expected: &str) -> Option<T> {
        self.parse_with(option, T::parse, expected)
    }

    pub(super) fn parse_with<P: Parser>(&mut self, option: &Written, parser: P, expected: &str) -> Option<P::Output> {
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

    pub(super) fn text(&mut self, key: &str) -> Option<Given<String>> {
        let option = self.take(key)?;
        let text: LitStr = self.parse(&option, "a string, as in `slug = \"fulfil_order\"`")?;
        Some(Given { value: text.value(), span: text.span() })
    }

    pub(super) fn word(&mut self, key: &str, expected: &str) -> Option<Ident> {
        let option = self.take(key)?;
        self.parse_with(&option, Ident::parse_any, expected)
    }

    /// Reads the source of a map.
    pub(super) fn source(&mut self, key: &str) -> Option<Ident> {
        let option = self.take(key)?;
        let tokens = self.value(&option, "the name of a step or `input`, as in `over = reserve`")?;
        if let Ok(word) = Ident::parse_any.parse2(tokens.clone()) {
            return Some(word);
        }
        let text = describe_source(tokens);
        self.has_failed = true;
        self.diag.at_span(option.value_span(), text);
        None
    }

    pub(super) fn words(&mut self, key: &str) -> Vec<Ident> {
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

    pub(super) fn flag(&mut self, key: &str) -> Option<Span> {
        let option = self.take(key)?;
        if !matches!(option.form, Form::Flag) {
            self.diag.at(&option.key, format!("`{key}` takes no value; write `{key}` alone"));
        }
        Some(option.key.span())
    }

    pub(super) fn is_any_schema(&mut self, key: &str) -> bool {
        let expected = "the word `any`, for a type without `JsonSchema`";
        let Some(option) = self.take(key) else { return false };
        let word: Option<Ident> = self.parse(&option, expected);
        if word.as_ref().is_some_and(|word| word != "any") {
            self.diag.at(word, format!("`{key}` takes {expected}"));
        }
        true
    }

    pub(super) fn json(&mut self, key: &str) -> Option<Given<Json>> {
        let option = self.take(key)?;
        let tokens = self.value(&option, "JSON, as in `{ \"gift\": true }`")?.clone();
        let value = self.diag.ok(syn::parse2(tokens))?;
        Some(Given { value, span: option.value_span() })
    }

    pub(super) fn mode(&mut self, key: &str) -> Option<Given<Mode>> {
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
        Some(Given { value: mode?, span: word.span() })
    }

    /// Reads every option with a number that the attribute takes.
    pub(super) fn numbers(&mut self) -> GivenNumbers {
        let options = self.attribute.number_options().iter();
        GivenNumbers(options.filter_map(|&option| Some((option, self.number(option)?))).collect())
    }

    fn number(&mut self, option: NumberOption) -> Option<Given<u64>> {
        let written = self.take(option.name())?;
        match option.unit() {
            Unit::Count => self.count(option, &written),
            Unit::Milliseconds => self.duration(option, &written),
        }
    }

    fn count(&mut self, option: NumberOption, written: &Written) -> Option<Given<u64>> {
        let number: LitInt = self.parse(written, &format!("a whole number, as in `{}`", synonyms::example(option)))?;
        let Ok(value) = number.base10_parse() else {
            let (least, most) = option.range().into_inner();
            self.diag.at(&number, format!("`{}` is a whole number from {least} to {most}", option.name()));
            return None;
        };
        Some(Given { value, span: number.span() })
    }

    fn duration(&mut self, option: NumberOption, written: &Written) -> Option<Given<u64>> {
        let text: LitStr = self.parse(written, "a duration as a string, as in \"30s\"")?;
        match parse_duration_ms(&text.value()) {
            Ok(value) => Some(Given { value, span: text.span() }),
            Err(error) => {
                self.diag.at(&text, format!("`{}`: {error}", option.name()));
                None
            }
        }
    }
}

/// Says what is wrong with a map's source that is no name.
fn describe_source(tokens: &TokenStream) -> String {
    let written = type_text(tokens);
    let first = tokens.clone().into_iter().next();
    let last = tokens.clone().into_iter().last();
    match (first, last) {
        (Some(TokenTree::Literal(literal)), _) => {
            let name = literal.to_string();
            format!("`over` takes a name without quotes; write `over = {}`", name.trim_matches('"'))
        }
        (Some(TokenTree::Ident(owner)), Some(TokenTree::Ident(name))) if owner == "Self" || owner == "self" => {
            format!("`over` takes the name of a step alone; write `over = {name}`")
        }
        (Some(TokenTree::Ident(whole)), _) if written.contains('.') => format!(
            "a map runs over the whole of `{whole}`; make a step that takes `{whole}` and returns `{written}`, and name that step"
        ),
        _ => "`over` takes the name of a step or `input`, as in `over = reserve`".to_owned(),
    }
}
