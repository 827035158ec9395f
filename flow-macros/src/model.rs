//! The flow as it is meant: names resolved, defaults filled in.

mod options;
mod params;
mod step;

use std::collections::HashSet;

use flow_core::{
    order::{Cycle, step_order},
    skippable::may_lack_output,
};
use heck::ToSnakeCase;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Generics, Type, ext::IdentExt};

use crate::{diag::Diag, parse::Parsed, paths, text};

pub(crate) use options::{ALL_NUMBERS, Numbers, Said};
pub(crate) use params::{Param, Reference, Role, is_context_type};
pub(crate) use step::{Source, Step, without_self};

/// A flow with everything that its expansion needs.
pub(crate) struct Flow {
    pub(crate) name: Ident,
    pub(crate) self_ty: Type,
    pub(crate) generics: Generics,
    pub(crate) slug: Said<String>,
    /// `None` when it is missing, which is reported.
    pub(crate) input: Option<Type>,
    pub(crate) input_has_schema: bool,
    pub(crate) numbers: Numbers,
    pub(crate) note: Option<String>,
    /// In order of declaration.
    pub(crate) steps: Vec<Step>,
    /// Places in `steps`, in step order; in order of declaration when there is none.
    pub(crate) order: Vec<usize>,
    pub(crate) cycles: Vec<Cycle>,
    /// Every word in the types of input, parameters and outputs.
    pub(crate) type_words: HashSet<String>,
    /// Whether rustc reports a syntax error in a step, so that names may be missing.
    pub(crate) has_broken_step: bool,
    /// The path of the helpers that generated code names.
    pub(crate) private: TokenStream,
}

impl Flow {
    /// The steps in step order, without those whose names are taken, which is reported.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &Step> {
        self.order.iter().map(|&place| &self.steps[place]).filter(|step| !step.is_shadowed)
    }

    /// The place of step `declared` in step order.
    pub(crate) fn index_of(&self, declared: usize) -> usize {
        self.order.iter().position(|&place| place == declared).unwrap_or(declared)
    }

    /// Whether `ty` can stand outside its method: it borrows nothing, is written out and has no type parameter.
    pub(crate) fn can_stand_alone(&self, ty: &Type) -> bool {
        holds_placeholder(ty).is_none() && !holds_borrow(ty.to_token_stream()) && self.type_parameter_in(ty).is_none()
    }

    /// The first type parameter of the flow that `ty` names.
    pub(crate) fn type_parameter_in(&self, ty: &Type) -> Option<Ident> {
        let parameters: Vec<&Ident> = self.generics.type_params().map(|parameter| &parameter.ident).collect();
        find_word(ty.to_token_stream(), &|word| parameters.contains(&word))
    }

    /// The steps that no other step waits for, in step order, with whether their output may be absent.
    pub(crate) fn leaves(&self) -> Vec<(&Step, bool)> {
        let dependencies: Vec<Vec<usize>> =
            self.in_order().map(|step| step.dependencies().map(|declared| self.index_of(declared)).collect()).collect();
        let modes: Vec<_> = self.in_order().map(Step::modes).collect();
        let may_lack = may_lack_output(&modes, &dependencies);
        let is_leaf = |place: &usize| !dependencies.iter().flatten().any(|needed| needed == place);
        self.in_order()
            .enumerate()
            .filter(|(place, _)| is_leaf(place))
            .map(|(place, step)| (step, may_lack[place]))
            .collect()
    }
}

/// Fills in the model; what cannot be read is reported and left out.
pub(crate) fn build(parsed: &Parsed, diag: &mut Diag) -> Flow {
    let name = type_name(&parsed.self_ty, diag);
    let options = options::FlowOptions::read(&parsed.options, diag);
    let marked: Vec<_> = parsed.marked().collect();
    let names: Vec<&Ident> = marked.iter().map(|(method, _)| &method.sig.ident).collect();
    let mut steps: Vec<Step> = marked
        .iter()
        .map(|(method, marker)| step::build(method, marker, &names, &name, &parsed.self_ty, diag))
        .collect();
    shadow(&mut steps);
    let dependencies: Vec<Vec<usize>> = steps.iter().map(|step| step.dependencies().collect()).collect();
    let (order, cycles) = match step_order(&dependencies) {
        Ok(order) => (order, Vec::new()),
        Err(cycles) => ((0..steps.len()).collect(), cycles),
    };
    let slug = options.slug.unwrap_or_else(|| Said {
        value: name.to_string().trim_start_matches("r#").to_snake_case(),
        span: name.span(),
    });
    let input = options.input.map(|input| without_self(&input, &parsed.self_ty));
    Flow {
        type_words: words_in_types(input.as_ref(), &steps),
        self_ty: parsed.self_ty.clone(),
        generics: parsed.generics.clone(),
        slug,
        input,
        input_has_schema: options.input_has_schema,
        numbers: options.numbers,
        note: text::doc_text(&parsed.attrs),
        order,
        cycles,
        steps,
        name,
        has_broken_step: parsed.has_broken_step(),
        private: paths::private_path(options.krate.as_ref()),
    }
}

/// Marks the steps whose names in generated code are taken or are none.
fn shadow(steps: &mut [Step]) {
    for place in 0..steps.len() {
        let (earlier, rest) = steps.split_at_mut(place);
        let step = &mut rest[0];
        let is_taken =
            |other: &Step| other.variant == step.variant || other.key == step.key || other.method == step.method;
        step.is_shadowed = step.variant == "Self" || earlier.iter().any(is_taken);
    }
}

/// The last name in the path of the type that the block is for.
fn type_name(self_ty: &Type, diag: &mut Diag) -> Ident {
    if let Type::Path(path) = self_ty
        && let Some(last) = path.path.segments.last()
    {
        return last.ident.clone();
    }
    diag.at(self_ty, "a flow is a type with a name; put the handlers on a struct or an enum");
    Ident::new("Flow", Span::call_site())
}

/// The first word in `tokens` that is meant.
fn find_word(tokens: TokenStream, is_meant: &dyn Fn(&Ident) -> bool) -> Option<Ident> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) => is_meant(&word).then_some(word),
        TokenTree::Group(group) => find_word(group.stream(), is_meant),
        _ => None,
    })
}

/// Every word in the types that generated code repeats.
fn words_in_types(input: Option<&Type>, steps: &[Step]) -> HashSet<String> {
    let of_step = |step: &'_ Step| -> Vec<TokenStream> {
        let params = step.params.iter().map(|param| param.ty.to_token_stream());
        params.chain(step.output.as_ref().map(ToTokens::to_token_stream)).collect()
    };
    let mut words = HashSet::new();
    for tokens in input.map(ToTokens::to_token_stream).into_iter().chain(steps.iter().flat_map(of_step)) {
        collect_words(tokens, &mut words);
    }
    words
}

fn collect_words(tokens: TokenStream, words: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => {
                words.insert(word.unraw().to_string());
            }
            TokenTree::Group(group) => collect_words(group.stream(), words),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// A word in `ty` that leaves the type open: `impl` or `_`.
pub(crate) fn holds_placeholder(ty: &Type) -> Option<Ident> {
    find_word(ty.to_token_stream(), &|word| word == "impl" || word == "_")
}

/// Whether a reference or a lifetime other than `'static` occurs.
pub(crate) fn holds_borrow(tokens: TokenStream) -> bool {
    let mut after_tick = false;
    tokens.into_iter().any(|token| match token {
        TokenTree::Punct(punct) => {
            after_tick = punct.as_char() == '\'';
            punct.as_char() == '&'
        }
        TokenTree::Ident(word) => std::mem::take(&mut after_tick) && word != "static",
        TokenTree::Group(group) => holds_borrow(group.stream()),
        TokenTree::Literal(_) => false,
    })
}
