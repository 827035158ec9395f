//! The checks that rustc makes for us at the user's types.

use flow_core::skippable::SkipCause;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::steps::index_literal;
use crate::model::{Flow, MapSource, Param, Step};

/// The contract of type `ty`, after `check`; it has to have a schema unless the user said that it has none.
pub(super) fn expand_contract(flow: &Flow, has_schema: bool, ty: &TokenStream, check: &TokenStream) -> TokenStream {
    let generated = &flow.helpers;
    let contract = if has_schema {
        quote!(#generated::Carrier::<#ty>::of().contract::<#ty>())
    } else {
        quote!(#generated::any_contract)
    };
    quote!({ #check #contract })
}

/// The bounds of the block, and what the calls of handlers assume besides: that threads share the flow.
///
/// With a lifetime in front, rustc takes an assumption that does not hold for no mistake. What does not hold is reported
/// once, by [`expand_type_check`]; users of the flow do not ask for it, since `Handlers` passes over calls that are missing.
pub(super) fn expand_assumptions(flow: &Flow) -> TokenStream {
    let Flow { helpers: generated, self_ty, generics, .. } = flow;
    let said = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    quote! {
        where
            #(#said,)*
            for<'__any> #self_ty: #generated::Shared,
    }
}

/// The bounds of the block, and that the flow owns what it holds, which every `Flow` does. It is reported once, where threads
/// share the flow.
pub(super) fn expand_ownership(flow: &Flow) -> TokenStream {
    let Flow { helpers: generated, generics, .. } = flow;
    let said = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    quote! {
        where
            #(#said,)*
            for<'__any> Self: #generated::Owned,
    }
}

/// Checks that the threads of a worker can share the flow.
pub(super) fn expand_type_check(flow: &Flow) -> TokenStream {
    let Flow { helpers: generated, self_ty, generics, .. } = flow;
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let here = respanned(generated.clone(), self_ty.span());
    let owns = quote_spanned!(self_ty.span()=> #here::Life::<#self_ty>::of().owns(););
    let futures = flow.steps.iter().filter(|step| step.is_sound).filter_map(|step| expand_future_check(flow, step));
    quote! {
        impl #impl_generics #generated::Checked for #self_ty #where_clause {
            fn check() {
                #generated::is_shared::<#self_ty>();
                #owns
                #(#futures)*
            }
        }
    }
}

/// Checks that a worker can move the future of a handler which seems to hold the borrow of a `RefCell`: by itself, since rustc
/// looks at no other future of a function in which this check fails.
fn expand_future_check(flow: &Flow, step: &Step) -> Option<TokenStream> {
    let at = step.is_holding_borrow().then(|| step.place_of_wait())?;
    let (generated, method) = (&flow.helpers, &step.method);
    let types = step.params.iter().map(|param| &param.ty);
    let names: Vec<Ident> = (0..step.params.len()).map(|place| format_ident!("__arg{place}")).collect();
    let here = respanned(generated.clone(), at);
    let future = Ident::new("__future", at);
    let check = quote_spanned!(at=> #here::moves_on(#future););
    Some(quote! {
        let _ = |__flow_of: &Self, #(#names: #types),*| {
            let #future = Self::#method(__flow_of, #(#names),*);
            #check
        };
    })
}

/// For each step that others take, a function that decodes its output and a type of its name for rustc's texts; and one
/// function for the input.
pub(super) fn expand(flow: &Flow) -> TokenStream {
    let is_taken = |declared: &usize| {
        let takes =
            |step: &Step| step.is_sound && step.needs().any(|(_, reference)| reference.target == Some(*declared));
        flow.steps.iter().any(takes)
    };
    let is_known = |declared: &usize| {
        let step = &flow.steps[*declared];
        !step.is_shadowed && step.output().is_some_and(|output| flow.can_stand_alone(output))
    };
    let readers = (0..flow.steps.len()).filter(is_taken).filter(is_known).map(|declared| expand_reader(flow, declared));
    readers.chain(expand_input_reader(flow)).collect()
}

fn expand_reader(flow: &Flow, declared: usize) -> TokenStream {
    let generated = &flow.helpers;
    let step = &flow.steps[declared];
    let (marker, reader) = (marker(flow, step), reader(step));
    let (whole, index) = (step.whole_output(generated), index_literal(flow.index_of(declared)));
    let (agrees, read) = match step.absence() {
        None => ("OutputIs", quote!(dep)),
        Some(SkipCause::Unmet(_)) => ("OutputUnlessUnmet", quote!(optional_dep)),
        Some(SkipCause::Exhausted(_)) => ("OutputUnlessExhausted", quote!(optional_dep)),
    };
    let agrees = Ident::new(agrees, Span::call_site());
    quote! {
        #[allow(non_camel_case_types)]
        enum #marker {}

        #[allow(non_snake_case)]
        fn #reader<T: #generated::#agrees<#marker, #whole>>(
            args: &#generated::StepArgs,
            param: &'static #generated::str,
        ) -> #generated::Result<T, #generated::StepError> {
            #generated::Carrier::<#whole>::of().#read(args, param, #index).map(T::from_output)
        }
    }
}

/// A type named like the step, unless the flow uses such a type, so that rustc's text names the step.
fn marker(flow: &Flow, step: &Step) -> Ident {
    let name = step.method_name();
    if flow.type_words.contains(&name) {
        return format_ident!("__{name}", span = Span::call_site());
    }
    // Not at the place of the method, so that the editor does not take one for the other.
    let mut marker = step.method.clone();
    marker.set_span(Span::call_site());
    marker
}

fn reader(step: &Step) -> Ident {
    format_ident!("__read{}", step.variant, span = Span::call_site())
}

/// The output of step `declared` for `param`, whose type has to be the one that dependents take.
pub(super) fn expand_output(flow: &Flow, param: &Param, declared: usize) -> TokenStream {
    let reader = reader(&flow.steps[declared]);
    let (ty, text) = (&param.ty, param.text());
    quote!(#reader::<#ty>(&__args, #text))
}

/// Decodes the run's input for `param`.
pub(super) fn expand_input(param: &Param) -> TokenStream {
    let (ty, text) = (&param.ty, param.text());
    quote!(__read_input::<#ty>(&__args, #text))
}

/// The function that decodes the run's input, where a step takes it.
fn expand_input_reader(flow: &Flow) -> Option<TokenStream> {
    let generated = &flow.helpers;
    let input = flow.input.as_ref().filter(|_| flow.steps.iter().any(|step| step.is_sound && step.takes_input()))?;
    Some(quote! {
        fn __read_input<T: #generated::InputIs<#input>>(
            args: &#generated::StepArgs,
            param: &'static #generated::str,
        ) -> #generated::Result<T, #generated::StepError> {
            #generated::Carrier::<#input>::of().input(args, param).map(T::from_input)
        }
    })
}

/// Checks that a map's source is a list, at the user's word for it; and the list's type.
pub(super) fn expand_source(flow: &Flow, step: &Step) -> Option<(TokenStream, TokenStream)> {
    let generated = &flow.helpers;
    let (list, over) = match step.source.as_ref()? {
        MapSource::Input(over) => (flow.input.as_ref()?.to_token_stream(), over),
        MapSource::Step(reference) => (flow.steps[reference.target?].whole_output(generated)?, &reference.name),
    };
    let here = respanned(list.clone(), over.span());
    Some((quote!(#generated::is_list::<#here>();), list))
}

/// The tokens at another place, so that what is wrong with them is reported there.
pub(super) fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                token = TokenTree::Group(Group::new(group.delimiter(), respanned(group.stream(), span)));
            }
            token.set_span(span);
            token
        })
        .collect()
}
