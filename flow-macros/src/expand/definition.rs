//! `impl Flow`: what is known of a flow without its handlers.

use flow_core::mode::Mode;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::{checks::expand_contract, output::output_name, steps::enum_name};
use crate::model::{ALL_NUMBERS, Flow, Numbers, Said, Source, Step};

pub(super) fn expand(flow: &Flow) -> TokenStream {
    let private = &flow.private;
    let slug = &flow.slug.value;
    let numbers = expand_numbers(private, &flow.numbers);
    let note = option(private, flow.note.as_ref());
    let input = &flow.input;
    let contract = expand_contract(flow, flow.input_has_schema, &quote!(#input), &TokenStream::new());
    let steps = flow.steps.iter().map(|step| expand_step(flow, step));
    let slugs = flow.in_order().map(|step| step.slug.value.as_str());
    expand_impl(
        flow,
        quote!(&[#(#slugs),*]),
        quote! {
            #private::define(&#private::FlowSpec {
                slug: #slug,
                numbers: #numbers,
                input: || #contract,
                note: #note,
                steps: &[#(#steps),*],
            })
        },
    )
}

pub(super) fn expand_stand_in(flow: &Flow) -> TokenStream {
    let private = &flow.private;
    // Without slugs, so that no queue of this flow can be wrong too.
    expand_impl(flow, quote!(&[]), quote!(#private::stand_in()))
}

fn expand_impl(flow: &Flow, step_slugs: TokenStream, body: TokenStream) -> TokenStream {
    let Flow { private, self_ty, generics, .. } = flow;
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let (step, output, slug) = (enum_name(flow), output_name(flow), &flow.slug.value);
    let input = flow
        .input
        .as_ref()
        .filter(|input| flow.can_stand_alone(input))
        .map_or_else(|| quote!(()), |input| quote!(#input));
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::Flow for #self_ty #where_clause {
            type Input = #input;
            type Output = #output;
            type Step = #step;
            const SLUG: &'static #private::str = #slug;
            const STEP_SLUGS: &'static [&'static #private::str] = #step_slugs;

            fn definition() -> #private::FlowDefinition {
                #body
            }
        }
    }
}

fn expand_step(flow: &Flow, step: &Step) -> TokenStream {
    let private = &flow.private;
    let slug = &step.slug.value;
    let output = &step.output;
    let contract = expand_contract(flow, step.has_schema, &quote!(#output), &quote!(#private::is_value::<#output>();));
    let slug_of = |declared: usize| &flow.steps[declared].slug.value;
    let needs = step.needs().filter_map(|(_, reference)| reference.target).map(slug_of);
    let after = step.after.iter().filter_map(|reference| reference.target).map(slug_of);
    let over = step.source.as_ref().map(|source| match source {
        Source::Input(name) => name.unraw().to_string(),
        Source::Step(reference) => reference.target.map(slug_of).cloned().unwrap_or_default(),
    });
    let over = option(private, over.as_ref());
    let run_if = option(private, step.run_if.as_ref().map(|said| said.value.to_text()).as_ref());
    let run_unless = option(private, step.run_unless.as_ref().map(|said| said.value.to_text()).as_ref());
    let when_unmet = expand_mode(private, step.when_unmet.as_ref());
    let when_exhausted = expand_mode(private, step.when_exhausted.as_ref());
    let numbers = expand_numbers(private, &step.numbers);
    let note = option(private, step.note.as_ref());
    quote! {
        #private::StepSpec {
            over: #over,
            needs: &[#(#needs),*],
            after: &[#(#after),*],
            run_if: #run_if,
            run_unless: #run_unless,
            when_unmet: #when_unmet,
            when_exhausted: #when_exhausted,
            numbers: #numbers,
            note: #note,
            ..#private::StepSpec::new(#slug, || #contract)
        }
    }
}

fn option(private: &TokenStream, value: Option<&String>) -> TokenStream {
    match value {
        Some(value) => quote!(#private::Some(#value)),
        None => quote!(#private::None),
    }
}

fn expand_mode(private: &TokenStream, said: Option<&Said<Mode>>) -> TokenStream {
    let variant = match said.map(|said| said.value) {
        None => return quote!(#private::None),
        Some(Mode::Skip) => "Skip",
        Some(Mode::SkipCascade) => "SkipCascade",
        Some(Mode::Fail) => "Fail",
    };
    let variant = Ident::new(variant, Span::call_site());
    quote!(#private::Some(#private::Mode::#variant))
}

fn expand_numbers(private: &TokenStream, numbers: &Numbers) -> TokenStream {
    if numbers.iter().next().is_none() {
        return quote!(#private::Numbers::NONE);
    }
    let names = ALL_NUMBERS.map(|option| format_ident!("{}", option.name()));
    let values = ALL_NUMBERS.map(|option| match numbers.get(option) {
        Some(said) => {
            let value = Literal::u64_unsuffixed(said.value);
            quote!(#private::Some(#value))
        }
        None => quote!(#private::None),
    });
    quote!(#private::Numbers { #(#names: #values),* })
}
