//! The checks that rustc makes for us at the user's types.

use flow_core::skippable::SkipCause;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};

use super::steps::index_literal;
use crate::model::{Flow, Param, Source, Step};

/// The contract of type `ty`, after `check`; it has to have a schema unless the user said that it has none.
pub(super) fn expand_contract(flow: &Flow, has_schema: bool, ty: &TokenStream, check: &TokenStream) -> TokenStream {
    let private = &flow.private;
    let contract = if has_schema {
        quote!(#private::Carrier::<#ty>::of().contract::<#ty>())
    } else {
        quote!(#private::TypeContract::any())
    };
    quote! {{
        #[allow(unused_imports)]
        use #private::NoCarrier as _;
        #check
        #contract
    }}
}

/// For each step that others take, a function that decodes its output and a type of its name for rustc's texts.
pub(super) fn expand(flow: &Flow) -> TokenStream {
    let is_taken = |declared: &usize| {
        let takes = |step: &Step| step.needs().any(|(_, reference)| reference.target == Some(*declared));
        flow.steps.iter().any(takes)
    };
    (0..flow.steps.len()).filter(is_taken).map(|declared| expand_reader(flow, declared)).collect()
}

fn expand_reader(flow: &Flow, declared: usize) -> TokenStream {
    let private = &flow.private;
    let step = &flow.steps[declared];
    let (marker, reader) = (marker(flow, step), reader(step));
    let (whole, index) = (step.whole_output(private), index_literal(flow.index_of(declared)));
    let (ty, read) = match step.absence() {
        None => (quote!(#whole), quote!(dep)),
        Some(_) => (quote!(#private::Option<#whole>), quote!(optional_dep)),
    };
    quote! {
        #[allow(non_camel_case_types)]
        enum #marker {}

        #[allow(non_snake_case)]
        fn #reader(
            args: &#private::StepArgs,
            param: &'static #private::str,
        ) -> #private::Result<#ty, #private::StepError> {
            #[allow(unused_imports)]
            use #private::NoCarrier as _;
            #private::Carrier::<#whole>::of().#read(args, param, #index)
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
    let private = &flow.private;
    let step = &flow.steps[declared];
    let agree = match step.absence() {
        None => "output",
        Some(SkipCause::Unmet(_)) => "output_unless_unmet",
        Some(SkipCause::Exhausted(_)) => "output_unless_exhausted",
    };
    let agree = Ident::new(agree, Span::call_site());
    let (marker, reader, whole) = (marker(flow, step), reader(step), step.whole_output(private));
    let (ty, text) = (&param.ty, param.text());
    quote!(#private::#agree::<#marker, #whole, #ty>(#reader(&__args, #text)?))
}

/// Decodes the run's input for `param`.
pub(super) fn expand_input(flow: &Flow, param: &Param) -> TokenStream {
    let private = &flow.private;
    let (input, ty, text) = (&flow.input, &param.ty, param.text());
    quote!(#private::input::<#input, #ty>(#private::Carrier::<#input>::of().input(&__args, #text)?))
}

/// Checks that a map's source is a list, at the user's word for it; and the list's type.
pub(super) fn expand_source(flow: &Flow, step: &Step) -> Option<(TokenStream, TokenStream)> {
    let private = &flow.private;
    let (list, over) = match step.source.as_ref()? {
        Source::Input(over) => (flow.input.as_ref()?.to_token_stream(), over),
        Source::Step(reference) => (flow.steps[reference.target?].whole_output(private)?, &reference.name),
    };
    let here = respanned(list.clone(), over.span());
    Some((quote!(#private::is_list::<#here>();), list))
}

/// The tokens at another place, so that what is wrong with them is reported there.
fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
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
