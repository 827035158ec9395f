//! The checks that rustc makes for us at the user's types.

use flow_core::skippable::SkipCause;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};

use super::steps::index_literal;
use crate::model::{Flow, Param, Source, Step, holds_word};

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

/// A type named like the step `taken`, so that rustc's text names it; in `taker`'s code no type is named like that.
pub(super) fn marker(taken: &Step, taker: &Step) -> Ident {
    let name = &taken.method;
    let is_type = taker.params.iter().map(|param| &param.ty).chain(&taken.output).any(|ty| holds_word(ty, name));
    if is_type { format_ident!("__{}", taken.method_name(), span = Span::call_site()) } else { unspanned(name) }
}

/// The name at the place of the macro, so that the editor does not take it for the method.
fn unspanned(name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(Span::call_site());
    name
}

/// Decodes the output of step `declared` for `param`, whose type has to be the one that dependents take.
pub(super) fn expand_output(flow: &Flow, taker: &Step, param: &Param, declared: usize) -> TokenStream {
    let private = &flow.private;
    let taken = &flow.steps[declared];
    let (agree, read) = match taken.absence() {
        None => ("output", "dep"),
        Some(SkipCause::Unmet(_)) => ("output_unless_unmet", "optional_dep"),
        Some(SkipCause::Exhausted(_)) => ("output_unless_exhausted", "optional_dep"),
    };
    let [agree, read] = [agree, read].map(|name| Ident::new(name, Span::call_site()));
    let (marker, ty) = (marker(taken, taker), &param.ty);
    let whole = taken.whole_output(private);
    let (text, index) = (param.text(), index_literal(flow.index_of(declared)));
    quote! {
        #private::#agree::<#marker, #whole, #ty>(#private::Carrier::<#whole>::of().#read(&__args, #text, #index)?)
    }
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
