//! `impl Handlers`: from JSON arguments to the user's methods and back.

use proc_macro2::TokenStream;
use quote::quote;

use super::{
    checks,
    steps::{arguments, enum_name},
};
use crate::model::{Flow, Role, Step};

pub(super) fn expand(flow: &Flow) -> TokenStream {
    let private = &flow.private;
    let step_enum = enum_name(flow);
    let takes_input = expand_matches(flow, Step::takes_input);
    let is_blocking = expand_matches(flow, |step| step.blocking.is_some());
    let arms = flow.in_order().map(|step| {
        let variant = &step.variant;
        let call = expand_call(flow, step);
        quote!(#step_enum::#variant => #call)
    });
    expand_impl(
        flow,
        takes_input,
        is_blocking,
        quote! {
            match step { #(#arms,)* }
        },
        quote!(#private),
    )
}

pub(super) fn expand_stand_in(flow: &Flow) -> TokenStream {
    let private = &flow.private;
    let stand_in = quote!(#private::stand_in());
    expand_impl(flow, stand_in.clone(), stand_in.clone(), stand_in, quote!(#private))
}

fn expand_impl(
    flow: &Flow,
    takes_input: TokenStream,
    is_blocking: TokenStream,
    call: TokenStream,
    private: TokenStream,
) -> TokenStream {
    let (impl_generics, _, where_clause) = flow.generics.split_for_impl();
    let self_ty = &flow.self_ty;
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::Handlers for #self_ty #where_clause {
            fn takes_input(step: Self::Step) -> #private::bool {
                #takes_input
            }

            fn is_blocking(step: Self::Step) -> #private::bool {
                #is_blocking
            }

            fn call(
                self: #private::Arc<Self>,
                step: Self::Step,
                __args: #private::StepArgs,
                __ctx: #private::StepContext,
            ) -> #private::StepCall {
                #call
            }
        }
    }
}

/// Whether the step is one of those that `is_meant` picks.
fn expand_matches(flow: &Flow, is_meant: impl Fn(&Step) -> bool) -> TokenStream {
    let step_enum = enum_name(flow);
    let meant: Vec<_> = flow.in_order().filter(|step| is_meant(step)).map(|step| &step.variant).collect();
    if meant.is_empty() {
        return quote! { let _ = step; false };
    }
    if meant.len() == flow.steps.len() {
        return quote! { let _ = step; true };
    }
    quote! {
        match step {
            #(#step_enum::#meant)|* => true,
            _ => false,
        }
    }
}

fn expand_call(flow: &Flow, step: &Step) -> TokenStream {
    let private = &flow.private;
    let (method, output) = (&step.method, &step.output);
    let fails = step.error.as_ref().map(|error| quote!(#private::fails_with::<#error>();));
    let takes = expand_takes(flow, step);
    let arguments = arguments(step);
    let wait = step.blocking.is_none().then(|| quote!(.await));
    let body = quote! {
        #[allow(unused_imports)]
        use #private::{NoCarrier as _, NoElements as _, NoEnd as _};
        #fails
        #takes
        let __output = #private::Ended(Self::#method(&self, #(#arguments),*) #wait).output()?;
        #private::Carrier::<#output>::of().encode(&__output)
    };
    if step.blocking.is_some() {
        quote!(#private::call_blocking(move || { #body }))
    } else {
        quote!(#private::call_async(async move { #body }))
    }
}

/// Decodes what the handler takes.
fn expand_takes(flow: &Flow, step: &Step) -> TokenStream {
    let private = &flow.private;
    let (check, list) = checks::expand_source(flow, step).unzip();
    let mut takes = check.unwrap_or_default();
    let mut fields = Vec::new();
    for param in &step.params {
        let (name, ty) = (&param.name, &param.ty);
        match &param.role {
            Role::Context => {}
            Role::Input => {
                let input = checks::expand_input(flow, param);
                takes.extend(quote!(let __input = #input;));
            }
            Role::Item => {
                takes.extend(quote!(let __item = #private::Elements::<#list>::of().take::<#ty>(&__args)?;));
            }
            Role::Output(reference) => {
                // Every name is known here.
                let Some(declared) = reference.target else { continue };
                let output = checks::expand_output(flow, param, declared);
                fields.push(quote!(#name: #output));
            }
        }
    }
    if !fields.is_empty() {
        let deps = &step.deps_struct;
        takes.extend(quote! {
            let __deps = #deps { #(#fields),* };
        });
    }
    takes
}
