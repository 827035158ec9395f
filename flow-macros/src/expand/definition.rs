//! Expands `impl Flow`: everything about a flow except its handlers.

use flow_core::mode::Mode;
use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;

use super::{
    checks::{expand_contract, expand_ownership},
    output::output_name,
    steps::enum_name,
};
use crate::{
    model::{Flow, Given, GivenNumbers, MapSource, Step},
    text::quoted,
};

pub(super) fn expand(flow: &Flow) -> TokenStream {
    let generated = &flow.helpers;
    let spec = written_flow(flow);
    let input = &flow.input;
    let input = expand_contract(flow, flow.input_has_schema, &quote!(#input), &TokenStream::new());
    let outputs = flow.steps.iter().map(|step| expand_output_contract(flow, step));
    let step_enum = enum_name(flow);
    expand_impl(flow, quote!(#step_enum::__SLUGS), quote!(#generated::define(#spec, #input, &[#(#outputs),*])))
}

/// Expands the checks of the sound types, with a stand-in for the definition.
pub(super) fn expand_stand_in(flow: &Flow) -> TokenStream {
    let generated = &flow.helpers;
    let input = flow.input.as_ref().filter(|input| flow.can_stand_alone(input));
    let input = input
        .into_iter()
        .map(|input| expand_contract(flow, flow.input_has_schema, &quote!(#input), &TokenStream::new()));
    let outputs = flow.steps.iter().filter(|step| step.is_sound).map(|step| expand_output_contract(flow, step));
    // The list of slugs is empty, so that no check of queue names reports a second error for this flow.
    expand_impl(
        flow,
        quote!(&[]),
        quote! {
            #(let _ = #outputs;)*
            #(let _ = #input;)*
            #generated::stand_in()
        },
    )
}

/// Expands a stand-in for the definition, without checks.
pub(super) fn expand_unchecked(flow: &Flow) -> TokenStream {
    let generated = &flow.helpers;
    expand_impl(flow, quote!(&[]), quote!(#generated::stand_in()))
}

fn expand_impl(flow: &Flow, step_slugs: TokenStream, body: TokenStream) -> TokenStream {
    let Flow { helpers: generated, self_ty, generics, .. } = flow;
    let (impl_generics, _, _) = generics.split_for_impl();
    let owned = expand_ownership(flow);
    let (step, output, slug) = (enum_name(flow), output_name(flow), &flow.slug.value);
    let input = flow
        .input
        .as_ref()
        .filter(|input| flow.can_stand_alone(input))
        .map_or_else(|| quote!(()), |input| quote!(#input));
    quote! {
        #[automatically_derived]
        impl #impl_generics #generated::Flow for #self_ty #owned {
            type Input = #input;
            type Output = #output;
            type Step = #step;
            const SLUG: &'static #generated::str = #slug;
            const STEP_SLUGS: &'static [&'static #generated::str] = #step_slugs;
            const VERSION: #generated::Option<&'static #generated::str> = #generated::option_env!("CARGO_PKG_VERSION");

            fn definition() -> #generated::FlowDefinition {
                #body
            }
        }
    }
}

fn expand_output_contract(flow: &Flow, step: &Step) -> TokenStream {
    let (generated, output) = (&flow.helpers, step.output());
    expand_contract(flow, step.has_schema, &quote!(#output), &quote!(#generated::is_value::<#output>();))
}

/// Writes everything about the flow except its types as JSON: rustc compiles one text faster than an expression for each field.
fn written_flow(flow: &Flow) -> String {
    let mut fields = vec![("slug", quoted(&flow.slug.value))];
    fields.extend(written_numbers(&flow.numbers));
    fields.extend(flow.note.as_ref().map(|note| ("note", quoted(note))));
    fields.push(("steps", list(flow.steps.iter().map(|step| written_step(flow, step)))));
    object(fields)
}

fn written_step(flow: &Flow, step: &Step) -> String {
    let slug_of = |declared: usize| quoted(&flow.steps[declared].slug.value);
    let needs: Vec<usize> = step.needs().filter_map(|(_, reference)| reference.target).collect();
    let after: Vec<usize> = step.after.iter().filter_map(|reference| reference.target).collect();
    let over = step.source.as_ref().and_then(|source| match source {
        MapSource::Input(name) => Some(quoted(&name.unraw().to_string())),
        MapSource::Step(reference) => reference.target.map(slug_of),
    });
    let slugs = |places: Vec<usize>| (!places.is_empty()).then(|| list(places.into_iter().map(slug_of)));
    let mode = |said: &Option<Given<Mode>>| said.as_ref().map(|said| quoted(said.value.as_str()));
    let fields = [
        ("over", over),
        ("needs", slugs(needs)),
        ("after", slugs(after)),
        ("run_if", step.run_if.as_ref().map(|said| said.value.to_text())),
        ("run_unless", step.run_unless.as_ref().map(|said| said.value.to_text())),
        ("when_unmet", mode(&step.when_unmet)),
        ("when_exhausted", mode(&step.when_exhausted)),
        ("note", step.note.as_ref().map(|note| quoted(note))),
    ];
    let said = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let slug = ("slug", quoted(&step.slug.value));
    object([slug].into_iter().chain(said).chain(written_numbers(&step.numbers)))
}

/// Writes the options with a number, where one is given.
fn written_numbers(numbers: &GivenNumbers) -> Option<(&'static str, String)> {
    let mut fields = numbers.iter().map(|(option, said)| (option.field(), said.value.to_string())).peekable();
    fields.peek()?;
    Some(("options", object(fields)))
}

fn object(fields: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let fields: Vec<String> = fields.into_iter().map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
    format!("{{{}}}", fields.join(","))
}

fn list(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}
