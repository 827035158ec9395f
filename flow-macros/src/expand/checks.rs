//! Expands the checks of the user's types that rustc makes.

use flow_core::skippable::SkipCause;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::steps::index_literal;
use crate::model::{Flow, MapSource, Param, Step};

/// Expands the contract of type `ty`, after `check`. The type must have a schema, unless the user said that it has none.
pub(super) fn expand_contract(flow: &Flow, has_schema: bool, ty: &TokenStream, check: &TokenStream) -> TokenStream {
    let generated = &flow.helpers;
    let contract = if has_schema {
        quote!(#generated::Carrier::<#ty>::of().contract::<#ty>())
    } else {
        quote!(#generated::any_contract)
    };
    quote!({ #check #contract })
}

/// Expands the where clause of the handlers: the bounds of the block, and the assumption that threads may share the flow.
///
/// The assumption stands behind a `for<…>` lifetime, because rustc then accepts a bound that does not hold.
/// [`expand_type_check`] reports the failure once; users of the flow see no further errors, since `Handlers` leaves out
/// calls that are missing.
pub(super) fn expand_assumptions(flow: &Flow) -> TokenStream {
    let Flow { helpers: generated, self_ty, generics, .. } = flow;
    let said = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    quote! {
        where
            #(#said,)*
            for<'__any> #self_ty: #generated::Shared,
    }
}

/// Expands the where clause of trait impls: the bounds of the block, and the assumption that the flow owns what it
/// holds, which every `Flow` does. [`expand_type_check`] reports a failure once.
pub(super) fn expand_ownership(flow: &Flow) -> TokenStream {
    let Flow { helpers: generated, generics, .. } = flow;
    let said = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    quote! {
        where
            #(#said,)*
            for<'__any> Self: #generated::Owned,
    }
}

/// Expands the check that the threads of a worker can share the flow and that the flow owns what it holds.
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

/// Expands the check that a worker can move the future of a handler which seems to hold the borrow of a `RefCell`. The
/// check is a closure of its own, because rustc checks no other future of a function in which this check fails.
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

/// Expands, for each step whose output other steps take, a function that decodes the output and a type that is named
/// like the step for rustc's error texts; and one function that decodes the run's input.
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

/// Names the type that rustc's error texts show in place of the step: like the step, unless the flow uses a type of that name.
fn marker(flow: &Flow, step: &Step) -> Ident {
    let name = step.method_name();
    if flow.type_words.contains(&name) {
        return format_ident!("__{name}", span = Span::call_site());
    }
    // The span is not the method's, so that an editor does not take the type for the method.
    let mut marker = step.method.clone();
    marker.set_span(Span::call_site());
    marker
}

fn reader(step: &Step) -> Ident {
    format_ident!("__read{}", step.variant, span = Span::call_site())
}

/// Expands the decoding of step `declared`'s output for `param`, whose type must be the type that dependents take.
pub(super) fn expand_output(flow: &Flow, param: &Param, declared: usize) -> TokenStream {
    let reader = reader(&flow.steps[declared]);
    let (ty, text) = (&param.ty, param.text());
    quote!(#reader::<#ty>(&__args, #text))
}

/// Expands the decoding of the run's input for `param`.
pub(super) fn expand_input(param: &Param) -> TokenStream {
    let (ty, text) = (&param.ty, param.text());
    quote!(__read_input::<#ty>(&__args, #text))
}

/// Expands the function that decodes the run's input, where a sound step takes the input.
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

/// Expands the check that a map's source is a list, with the span of the user's word for the source; and the list's type.
pub(super) fn expand_source(flow: &Flow, step: &Step) -> Option<(TokenStream, TokenStream)> {
    let generated = &flow.helpers;
    let (list, over) = match step.source.as_ref()? {
        MapSource::Input(over) => (flow.input.as_ref()?.to_token_stream(), over),
        MapSource::Step(reference) => (flow.steps[reference.target?].whole_output(generated)?, &reference.name),
    };
    let here = respanned(list.clone(), over.span());
    Some((quote!(#generated::is_list::<#here>();), list))
}

/// The tokens with another span, so that rustc reports errors in them at that span.
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
