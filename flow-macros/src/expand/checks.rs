//! Hidden traits through which rustc checks that types agree, worded for the user.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::steps::index_literal;
use crate::{
    model::{Flow, Source, Step},
    text::type_text,
};

/// One trait a step that others depend on; its only implementor is the type that dependents take.
pub(super) fn expand(flow: &Flow) -> TokenStream {
    let taken = flow.steps.iter().enumerate().filter(|(declared, _)| is_taken(flow, *declared));
    let traits = taken.map(|(declared, step)| expand_step(flow, declared, step));
    let sources = flow.steps.iter().map(|step| expand_source(flow, step));
    let input = expand_input(flow);
    quote! { #(#traits)* #input #(#sources)* }
}

/// Ties each step to the type of its output; everything else asks through this.
pub(super) fn expand_outputs(flow: &Flow) -> TokenStream {
    let private = &flow.private;
    let self_ty = &flow.self_ty;
    let (impl_generics, _, where_clause) = flow.generics.split_for_impl();
    flow.in_order()
        .enumerate()
        .map(|(index, step)| {
            let index = index_literal(index);
            let output = &step.output;
            let contract = if step.has_schema { quote!(of::<#output>()) } else { quote!(any()) };
            quote! {
                impl #impl_generics #private::StepOutput<#index> for #self_ty #where_clause {
                    type Output = #output;

                    fn contract() -> #private::TypeContract {
                        #private::TypeContract::#contract
                    }
                }
            }
        })
        .collect()
}

/// The hidden trait of a step's output as dependents take it.
pub(super) fn output_trait(step: &Step) -> Ident {
    format_ident!("__OutputOf{}", step.variant, span = Span::call_site())
}

/// The hidden trait of a map's element.
pub(super) fn item_trait(step: &Step) -> Ident {
    format_ident!("__ItemOf{}", step.variant, span = Span::call_site())
}

/// The hidden trait of the run's input.
pub(super) fn input_trait() -> Ident {
    Ident::new("__InputOfFlow", Span::call_site())
}

fn is_taken(flow: &Flow, declared: usize) -> bool {
    flow.steps.iter().any(|step| step.needs().any(|(_, reference)| reference.target == Some(declared)))
}

fn expand_step(flow: &Flow, declared: usize, step: &Step) -> TokenStream {
    let private = &flow.private;
    let name = output_trait(step);
    let index = index_literal(flow.index_of(declared));
    let whole = step.whole_output(private);
    let plain = step.output.as_ref().map(type_text).unwrap_or_default();
    let written = if step.is_map { format!("Vec<{plain}>") } else { plain };
    let method = step.method_name();
    let (implementor, take, message, label) = match step.absence() {
        Some(cause) => (
            quote!(#private::Option<#whole>),
            quote!(optional_dep),
            format!(
                "step `{method}` may be skipped (`{}`), so it is taken as `Option<{written}>`, not `{{Self}}`",
                cause.describe()
            ),
            format!("expected `Option<{written}>`"),
        ),
        None => (
            quote!(#whole),
            quote!(dep),
            format!("step `{method}` returns `{written}`, not `{{Self}}`"),
            format!("expected `{written}`, the output of `{method}`"),
        ),
    };
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = #label)]
        trait #name: #private::Sized {
            fn take(args: &#private::StepArgs, param: &'static str) -> #private::Result<Self, #private::StepError>;
        }

        impl #name for #implementor {
            fn take(args: &#private::StepArgs, param: &'static str) -> #private::Result<Self, #private::StepError> {
                args.#take(param, #index)
            }
        }
    }
}

fn expand_input(flow: &Flow) -> TokenStream {
    let private = &flow.private;
    let name = input_trait();
    let Some(input) = &flow.input else { return TokenStream::new() };
    let written = type_text(input);
    let message = format!("the input of this flow is `{written}`, not `{{Self}}`");
    let label = format!("expected `{written}`, as in `#[flow(input = {written})]`");
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = #label)]
        trait #name: #private::Sized {
            fn take(args: &#private::StepArgs) -> #private::Result<Self, #private::StepError>;
        }

        impl #name for #input {
            fn take(args: &#private::StepArgs) -> #private::Result<Self, #private::StepError> {
                args.input("input")
            }
        }
    }
}

/// A map's source is a list, and its element is what the handler takes.
fn expand_source(flow: &Flow, step: &Step) -> TokenStream {
    let private = &flow.private;
    let name = item_trait(step);
    let (list, from, place) = match &step.source {
        Some(Source::Input(over)) => match &flow.input {
            Some(input) => (quote!(#input), format!("the input `{}`", type_text(input)), over),
            None => return TokenStream::new(),
        },
        Some(Source::Step(reference)) => {
            let Some(source) = reference.target.map(|declared| &flow.steps[declared]) else {
                return TokenStream::new();
            };
            let written = source.output.as_ref().map(type_text).unwrap_or_default();
            let written = if source.is_map { format!("Vec<{written}>") } else { written };
            let list = source.whole_output(private);
            (quote!(#list), format!("`{written}`, the output of `{}`", source.method_name()), &reference.name)
        }
        None => return TokenStream::new(),
    };
    let element = quote::quote_spanned!(place.span()=> <#list as #private::FlowList>::Item);
    let message = format!("`{{Self}}` is not the element of {from}");
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = "not the type of one element")]
        trait #name: #private::Sized {
            fn take(args: &#private::StepArgs) -> #private::Result<Self, #private::StepError>;
        }

        impl #name for #element {
            fn take(args: &#private::StepArgs) -> #private::Result<Self, #private::StepError> {
                args.item("item")
            }
        }
    }
}
