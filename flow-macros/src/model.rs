//! Builds the model of a flow: names resolved, defaults filled in.

mod options;
mod params;
mod returned;
mod self_type;
mod step;

use std::collections::HashSet;

use flow_core::{
    order::{Cycle, step_order},
    skippable::may_lack_output,
};
use heck::ToSnakeCase;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Generics, ImplItem, Path, Type, ext::IdentExt};

use self::step::Block;
use crate::{
    beside::Beside,
    diag::Diag,
    parse::Parsed,
    paths,
    text::{self, plain},
};

pub(crate) use options::{Given, GivenNumbers};
pub(crate) use params::{Param, ParamRole, Reference};
pub(crate) use returned::{Returned, has_too_many_arguments, is_future, is_result};
pub(crate) use self_type::without_self;
pub(crate) use step::{MapSource, Step};

/// A flow with everything that its expansion needs.
pub(crate) struct Flow {
    pub(crate) name: Ident,
    /// The name of the step enum.
    pub(crate) step_enum: GeneratedName,
    /// The name of the output struct.
    pub(crate) output_struct: GeneratedName,
    /// Whether the user asked for structs of dependencies.
    pub(crate) has_deps: bool,
    pub(crate) self_ty: Type,
    pub(crate) generics: Generics,
    pub(crate) slug: Given<String>,
    /// The type of the run's input; `None` when the option is missing, which is reported.
    pub(crate) input: Option<Type>,
    pub(crate) input_has_schema: bool,
    pub(crate) numbers: GivenNumbers,
    pub(crate) note: Option<String>,
    /// The steps, in order of declaration.
    pub(crate) steps: Vec<Step>,
    /// Places in `steps`, in step order; in order of declaration when a cycle leaves no step order.
    pub(crate) order: Vec<usize>,
    pub(crate) cycles: Vec<Cycle>,
    /// Every word in the types of input, parameters and outputs.
    pub(crate) type_words: HashSet<String>,
    /// Whether rustc reports a syntax error in the block, so that names may be missing.
    pub(crate) is_broken: bool,
    /// The type of an earlier `#[flow]` block in the same scope whose generated names would be the same.
    pub(crate) earlier_block: Option<String>,
    /// The methods without a marker.
    pub(crate) unmarked: Vec<Ident>,
    /// The constants of the block.
    pub(crate) constants: Vec<Ident>,
    /// Markers on items that are no methods, each with its item.
    pub(crate) misplaced_markers: Vec<(Path, TokenStream)>,
    /// Attributes of unmarked methods that may be markers under another name.
    pub(crate) unknown_attrs: Vec<Path>,
    /// The path of the helpers that generated code names.
    pub(crate) generated: TokenStream,
    /// The name of the helpers inside the generated blocks that import them.
    pub(crate) helpers: TokenStream,
}

impl Flow {
    /// The steps in step order, without steps whose generated names are taken (which is reported).
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &Step> {
        self.order.iter().map(|&place| &self.steps[place]).filter(|step| !step.is_shadowed)
    }

    /// Sets `is_sound` of each step: nothing was reported of the step, and all types that it needs are there.
    pub(crate) fn set_soundness(&mut self, diag: &Diag) {
        for place in 0..self.steps.len() {
            let is_sound = !diag.is_faulty(place) && self.has_whole_types(&self.steps[place]);
            self.steps[place].is_sound = is_sound;
        }
    }

    /// Whether the flow can be expanded in full. Where it cannot and the macro reported nothing, rustc reports the reason.
    pub(crate) fn is_sound(&self) -> bool {
        !self.is_broken && self.steps.iter().all(|step| step.is_sound)
    }

    /// Whether the type of the flow borrows; then no trait can be implemented for the type, and the borrow is reported.
    pub(crate) fn is_borrowing(&self) -> bool {
        self.generics.lifetimes().next().is_some() || holds_borrow(self.self_ty.to_token_stream())
    }

    /// Whether every type that the step needs, its own and those of its dependencies, is there and can be compared.
    fn has_whole_types(&self, step: &Step) -> bool {
        let stands = |ty: Option<&Type>| ty.is_some_and(|ty| self.can_stand_alone(ty));
        let is_whole = |declared: usize| stands(self.steps[declared].output()) && !self.steps[declared].is_shadowed;
        let takes_input = step.takes_input() || matches!(step.source, Some(MapSource::Input(_)));
        !step.is_broken
            && !step.is_shadowed
            && stands(step.output())
            && step.dependencies().all(is_whole)
            && step.needs().all(|(_, reference)| reference.target.is_some())
            && (!takes_input || stands(self.input.as_ref()))
    }

    /// The place of step `declared` in step order.
    pub(crate) fn index_of(&self, declared: usize) -> usize {
        self.order.iter().position(|&place| place == declared).unwrap_or(declared)
    }

    /// Whether `ty` can be named outside its method: the type borrows nothing, is written out and has no type parameter.
    pub(crate) fn can_stand_alone(&self, ty: &Type) -> bool {
        holds_placeholder(ty).is_none() && !holds_borrow(ty.to_token_stream()) && self.type_parameter_in(ty).is_none()
    }

    /// The first type or const parameter of the flow that `ty` names.
    pub(crate) fn type_parameter_in(&self, ty: &Type) -> Option<Ident> {
        let types = self.generics.type_params().map(|parameter| &parameter.ident);
        let parameters: Vec<&Ident> =
            types.chain(self.generics.const_params().map(|parameter| &parameter.ident)).collect();
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

/// Builds the model from the parsed block; parts that cannot be read are reported and left out.
pub(crate) fn build(parsed: &Parsed, diag: &mut Diag) -> Flow {
    let self_ty = plain(&parsed.self_ty).clone();
    let name = type_name(&self_ty, diag);
    let options = options::FlowAttribute::read(&parsed.options, diag);
    let names = options.names.unwrap_or_else(|| name.clone());
    let generated = paths::generated_path(options.krate.as_ref());
    let marked: Vec<_> = parsed.marked().collect();
    let methods: Vec<&Ident> = marked.iter().map(|(method, _)| &method.sig.ident).collect();
    let block = Block { names: &names, self_ty: &self_ty, generated: &generated, steps: &methods };
    let mut steps = Vec::with_capacity(marked.len());
    for (place, (method, marker)) in marked.iter().enumerate() {
        diag.enter_step(place);
        steps.push(step::build(method, marker, &block, diag));
    }
    diag.leave_steps();
    shadow(&mut steps);
    let dependencies: Vec<Vec<usize>> = steps.iter().map(|step| step.dependencies().collect()).collect();
    let (order, cycles) = match step_order(&dependencies) {
        Ok(order) => (order, Vec::new()),
        Err(cycles) => ((0..steps.len()).collect(), cycles),
    };
    let slug = options.slug.unwrap_or_else(|| Given {
        value: name.to_string().trim_start_matches("r#").to_snake_case(),
        span: name.span(),
    });
    let input = options.input.map(|input| without_self(plain(&input), &self_ty));
    let types = || input.iter().chain(steps.iter().filter_map(Step::output));
    let beside = Beside::read(&names, name.span(), &parsed.body);
    Flow {
        step_enum: GeneratedName::new(&names, "Step", types(), &beside),
        output_struct: GeneratedName::new(&names, "Output", types(), &beside),
        earlier_block: beside.earlier_block,
        type_words: words_in_types(input.as_ref(), &steps),
        generics: parsed.generics.clone(),
        slug,
        input,
        input_has_schema: options.input_has_schema,
        numbers: options.numbers,
        note: text::doc_text(&parsed.attrs),
        order,
        cycles,
        steps,
        has_deps: options.has_deps,
        is_broken: parsed.is_broken(),
        unmarked: parsed.unmarked().map(|method| method.sig.ident.clone()).collect(),
        constants: parsed.others().filter_map(|other| constant_name(&other.tokens)).collect(),
        misplaced_markers: parsed
            .others()
            .filter(|other| !other.is_broken)
            .filter_map(|other| other.marker.clone())
            .collect(),
        unknown_attrs: parsed
            .unmarked()
            .flat_map(|method| &method.attrs)
            .map(|attr| attr.path())
            .filter(may_be_marker)
            .cloned()
            .collect(),
        name,
        self_ty,
        generated,
        helpers: quote!(__flow),
    }
}

/// The name of a generated type.
pub(crate) struct GeneratedName {
    /// The name that is used: the usual one, or one with `__` in front where a type of the user has the usual name.
    pub(crate) name: Ident,
    /// The usual name where a type of the user has it, with the span of a use of that type, or of the flow's name.
    pub(crate) taken: Option<Ident>,
}

impl GeneratedName {
    fn new<'a>(names: &Ident, end: &str, mut types: impl Iterator<Item = &'a Type>, beside: &Beside) -> Self {
        let name = format_ident!("{}{}", names, end, span = Span::call_site());
        let is_beside = beside.types.iter().any(|ty| name == ty);
        let at_flow = is_beside.then(|| format_ident!("{name}", span = names.span()));
        let taken = types.find_map(|ty| word_in(ty, &name)).or(at_flow);
        let name = if taken.is_some() { format_ident!("__{name}", span = Span::call_site()) } else { name };
        Self { name, taken }
    }
}

/// The name of the constant when the item is one.
fn constant_name(item: &TokenStream) -> Option<Ident> {
    match syn::parse2(item.clone()) {
        Ok(ImplItem::Const(constant)) => Some(constant.ident),
        _ => None,
    }
}

/// Whether an attribute ends with the name of a marker, or is a single word that the language and its tools do not know.
fn may_be_marker(path: &&Path) -> bool {
    const KNOWN: [&str; 18] = [
        "allow",
        "cfg",
        "cfg_attr",
        "cold",
        "deny",
        "deprecated",
        "doc",
        "expect",
        "forbid",
        "ignore",
        "inline",
        "instrument",
        "must_use",
        "no_mangle",
        "target_feature",
        "test",
        "track_caller",
        "warn",
    ];
    match path.get_ident() {
        Some(word) => !KNOWN.iter().any(|known| word == known),
        None => path.segments.last().is_some_and(|last| last.ident == "step" || last.ident == "map"),
    }
}

/// Marks the steps whose generated names are taken by an earlier step or are not legal names.
fn shadow(steps: &mut [Step]) {
    for place in 0..steps.len() {
        let (earlier, rest) = steps.split_at_mut(place);
        let step = &mut rest[0];
        let is_taken =
            |other: &Step| other.variant == step.variant || other.key == step.key || other.method == step.method;
        step.is_shadowed = step.variant == "Self" || earlier.iter().any(is_taken);
    }
}

/// The last name in the path of the type that has the block.
fn type_name(self_ty: &Type, diag: &mut Diag) -> Ident {
    if let Type::Path(path) = self_ty
        && let Some(last) = path.path.segments.last()
    {
        return last.ident.clone();
    }
    diag.at(self_ty, "a flow is a type with a name; put the handlers on a struct or an enum");
    Ident::new("Flow", Span::call_site())
}

/// The first word in `tokens` that `is_meant` accepts.
fn find_word(tokens: TokenStream, is_meant: &dyn Fn(&Ident) -> bool) -> Option<Ident> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) => is_meant(&word).then_some(word),
        TokenTree::Group(group) => find_word(group.stream(), is_meant),
        _ => None,
    })
}

/// The first occurrence of `word` in `ty`.
fn word_in(ty: &Type, word: &Ident) -> Option<Ident> {
    find_word(ty.to_token_stream(), &|found| found == word)
}

/// Every word in the types that generated code repeats.
fn words_in_types(input: Option<&Type>, steps: &[Step]) -> HashSet<String> {
    let of_step = |step: &'_ Step| -> Vec<TokenStream> {
        let params = step.params.iter().map(|param| param.ty.to_token_stream());
        params.chain(step.output().map(ToTokens::to_token_stream)).collect()
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

/// Whether `tokens` hold a reference or a lifetime other than `'static`.
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
