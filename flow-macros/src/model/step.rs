//! Builds the model of a step.

use flow_core::{
    mode::Mode,
    skippable::{SkipCause, StepModes},
};
use heck::{ToShoutySnakeCase, ToUpperCamelCase};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, ReturnType, Signature, Type, ext::IdentExt, parse::Parser, spanned::Spanned};

use super::{
    Given, GivenNumbers, Param, ParamRole, Reference, Returned, is_future, options::StepAttribute, params, returned,
};
use crate::{
    diag::Diag,
    parse::{Json, Marker, Method},
    text,
};

/// A step with everything that its expansion needs.
pub(crate) struct Step {
    pub(crate) method: Ident,
    pub(crate) marker: Span,
    pub(crate) doubled_markers: Vec<Span>,
    /// Whether rustc reports a syntax error in the method's signature.
    pub(crate) is_broken: bool,
    /// Whether nothing was reported of the step and all types that it needs are there, so that its types can be compared.
    pub(crate) is_sound: bool,
    /// Whether the `slug` option is given; else the slug is the method's name.
    pub(crate) has_own_slug: bool,
    /// Whether an option was refused. A required option that is missing may be the refused one, so it is not reported as well.
    pub(crate) has_refused_option: bool,
    /// Whether the step's generated names are taken by an earlier step or are not legal names.
    pub(crate) is_shadowed: bool,
    pub(crate) sig: Signature,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) slug: Given<String>,
    pub(crate) variant: Ident,
    pub(crate) key: Ident,
    /// The name of the struct of the step's dependencies.
    pub(crate) deps_struct: Ident,
    pub(crate) is_map: bool,
    pub(crate) source: Option<MapSource>,
    pub(crate) params: Vec<Param>,
    pub(crate) after: Vec<Reference>,
    pub(crate) run_if: Option<Given<Json>>,
    pub(crate) run_unless: Option<Given<Json>>,
    pub(crate) when_unmet: Option<Given<Mode>>,
    pub(crate) when_exhausted: Option<Given<Mode>>,
    pub(crate) blocking: Option<Span>,
    pub(crate) numbers: GivenNumbers,
    pub(crate) has_schema: bool,
    /// What the handler returns; `None` when the return type is no `Result`.
    pub(crate) returned: Option<Returned>,
    pub(crate) note: Option<String>,
    /// The only `.await` of the body; `None` when the body has none or several.
    wait: Option<Span>,
    /// The first `.await` of the body after a variable takes what `borrow()` or `borrow_mut()` returns.
    wait_with_borrow: Option<Span>,
}

/// What a map runs over.
pub(crate) enum MapSource {
    /// The run's input.
    Input(Ident),
    /// A step's output.
    Step(Reference),
}

impl Step {
    /// The steps for which this step waits, by their places in order of declaration.
    pub(crate) fn dependencies(&self) -> impl Iterator<Item = usize> {
        self.references().filter_map(|reference| reference.target)
    }

    /// Every reference to a step: the source, the parameters, then `after`.
    pub(crate) fn references(&self) -> impl Iterator<Item = &Reference> {
        let source = match &self.source {
            Some(MapSource::Step(reference)) => Some(reference),
            _ => None,
        };
        source.into_iter().chain(self.needs().map(|(_, reference)| reference)).chain(&self.after)
    }

    /// The parameters that take a step's output.
    pub(crate) fn needs(&self) -> impl Iterator<Item = (&Param, &Reference)> {
        self.params.iter().filter_map(|param| match &param.role {
            ParamRole::Output(reference) => Some((param, reference)),
            _ => None,
        })
    }

    /// Whether the handler takes the run's input.
    pub(crate) fn takes_input(&self) -> bool {
        self.params.iter().any(|param| matches!(param.role, ParamRole::Input))
    }

    /// What happens when the step does not run or does not succeed.
    pub(crate) fn modes(&self) -> StepModes {
        let has_condition = self.run_if.is_some() || self.run_unless.is_some();
        let said = |mode: &Option<Given<Mode>>| mode.as_ref().map(|said| said.value);
        StepModes {
            when_unmet: has_condition.then(|| said(&self.when_unmet).unwrap_or(Mode::WHEN_UNMET)),
            when_exhausted: said(&self.when_exhausted).unwrap_or(Mode::WHEN_EXHAUSTED),
        }
    }

    /// The option because of which dependents take this step's output as `Option`.
    pub(crate) fn absence(&self) -> Option<SkipCause> {
        self.modes().absent_for_dependents()
    }

    /// The type that the handler returns on success.
    pub(crate) fn output(&self) -> Option<&Type> {
        self.returned.as_ref().map(|returned| &returned.output)
    }

    /// The type of the whole step's output: for a map, a list of what the handler returns.
    pub(crate) fn whole_output(&self, generated: &TokenStream) -> Option<TokenStream> {
        let output = self.output()?;
        Some(if self.is_map { quote!(#generated::Vec<#output>) } else { output.to_token_stream() })
    }

    /// The type of the whole step's output as its author would write it.
    pub(crate) fn written_output(&self) -> Option<String> {
        let output = text::type_text(self.output()?);
        Some(if self.is_map { format!("Vec<{output}>") } else { output })
    }

    /// Whether the handler is neither `async` nor `blocking`.
    pub(crate) fn lacks_async(&self) -> bool {
        self.sig.asyncness.is_none() && self.blocking.is_none()
    }

    /// Whether the handler is a plain `fn` whose return type is written as a future, in place of an `async fn`.
    pub(crate) fn has_written_future(&self) -> bool {
        matches!(&self.sig.output, ReturnType::Type(_, ty) if is_future(ty))
    }

    /// Where errors about the handler's future are reported: the `.await` that holds a borrow, or the only `.await` of
    /// the body, else the method's name.
    pub(crate) fn place_of_wait(&self) -> Span {
        self.wait_with_borrow.or(self.wait).unwrap_or_else(|| self.method.span())
    }

    /// Whether a variable seems to hold the borrow of a `RefCell` across an `.await`. Decides only the wording of errors.
    pub(crate) fn is_holding_borrow(&self) -> bool {
        self.wait_with_borrow.is_some()
    }

    /// The name of the method without `r#`.
    pub(crate) fn method_name(&self) -> String {
        self.method.unraw().to_string()
    }
}

/// The parts of a block that building its steps needs.
pub(super) struct Block<'a> {
    /// What the names of generated types begin with.
    pub(super) names: &'a Ident,
    pub(super) self_ty: &'a Type,
    pub(super) generated: &'a TokenStream,
    /// The names of the marked methods.
    pub(super) steps: &'a [&'a Ident],
}

pub(super) fn build(method: &Method, marker: &Marker, block: &Block<'_>, diag: &mut Diag) -> Step {
    let Block { names, self_ty, generated, steps } = *block;
    let name = method.sig.ident.clone();
    let plain = name.unraw().to_string();
    let options = StepAttribute::read(&marker.options, marker.is_map, diag);
    let camel = plain.to_upper_camel_case();
    let variant = options.variant.clone().unwrap_or_else(|| ident_or(&camel, &name));
    let key_word =
        options.variant.map_or_else(|| plain.to_shouty_snake_case(), |name| name.to_string().to_shouty_snake_case());
    let source = options.over.map(|over| {
        if over == "input" { MapSource::Input(over) } else { MapSource::Step(Reference::resolve(over, steps)) }
    });
    Step {
        marker: marker.path.span(),
        doubled_markers: marker.doubled.clone(),
        is_broken: method.is_broken,
        is_sound: false,
        has_own_slug: options.slug.is_some(),
        has_refused_option: options.has_failed,
        is_shadowed: false,
        slug: options.slug.unwrap_or_else(|| Given { value: plain.clone(), span: name.span() }),
        deps_struct: format_ident!("{}{}Deps", names, variant, span = Span::call_site()),
        variant,
        key: ident_or(&key_word, &name),
        is_map: marker.is_map,
        source,
        params: params::build(method, steps, self_ty, diag),
        after: options.after.into_iter().map(|name| Reference::resolve(name, steps)).collect(),
        run_if: options.run_if,
        run_unless: options.run_unless,
        when_unmet: options.when_unmet,
        when_exhausted: options.when_exhausted,
        blocking: options.blocking,
        numbers: options.numbers,
        has_schema: options.has_schema,
        returned: returned::read(&method.sig.output, self_ty, generated),
        wait: only_await(method.body.to_token_stream()),
        wait_with_borrow: await_with_borrow(method.body.to_token_stream()),
        note: text::doc_text(&method.attrs),
        attrs: method.attrs.clone(),
        sig: method.sig.clone(),
        method: name,
    }
}

/// The place of the `.await` in a body that has exactly one.
fn only_await(body: TokenStream) -> Option<Span> {
    let mut found = Vec::new();
    find_awaits(body, &mut found);
    let [only] = found[..] else { return None };
    Some(only)
}

fn find_awaits(tokens: TokenStream, found: &mut Vec<Span>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) if word == "await" => found.push(word.span()),
            TokenTree::Group(group) => find_awaits(group.stream(), found),
            _ => {}
        }
    }
}

/// The first `.await` behind a `let … = ….borrow();` or `….borrow_mut();` of the same block.
fn await_with_borrow(body: TokenStream) -> Option<Span> {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    for (place, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) if word == "borrow" || word == "borrow_mut" => {
                let is_bound = matches!(
                    tokens.get(place + 1..place + 3),
                    Some([TokenTree::Group(_), TokenTree::Punct(end)]) if end.as_char() == ';'
                );
                let mut found = Vec::new();
                find_awaits(tokens[place..].iter().cloned().collect(), &mut found);
                if is_bound && !found.is_empty() {
                    return Some(found[0]);
                }
            }
            TokenTree::Group(group) => {
                if let Some(found) = await_with_borrow(group.stream()) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

/// `word` as a name with the span of `name`; `name` itself when `word` is no legal name.
fn ident_or(word: &str, name: &Ident) -> Ident {
    let is_word = Ident::parse_any.parse_str(word).is_ok();
    if is_word { Ident::new(word, name.span()) } else { name.clone() }
}
