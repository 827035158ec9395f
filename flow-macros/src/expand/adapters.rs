//! `impl Handlers`: from JSON arguments to the user's methods and back.

use proc_macro2::TokenStream;
use quote::quote;

use super::{
    checks::{input_trait, item_trait, output_trait},
    steps::{arguments, enum_name, index_literal},
};
use crate::model::{Flow, Role, Step};

pub(super) fn expand(flow: &Flow) -> TokenStream {
    let private = &flow.private;
    let step_enum = enum_name(flow);
    let takes_input = expand_matches(flow, |step| step.params.iter().any(|param| matches!(param.role, Role::Input)));
    let is_blocking = expand_matches(flow, |step| step.blocking.is_some());
    let arms = flow.in_order().enumerate().map(|(index, step)| {
        let variant = &step.variant;
        let call = expand_call(flow, index, step);
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
            fn takes_input(step: Self::Step) -> bool {
                #takes_input
            }

            fn is_blocking(step: Self::Step) -> bool {
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

fn expand_call(flow: &Flow, index: usize, step: &Step) -> TokenStream {
    let private = &flow.private;
    let index = index_literal(index);
    let method = &step.method;
    let takes = expand_takes(flow, step);
    let arguments = arguments(step);
    let call = quote!(Self::#method(&self, #(#arguments),*));
    if step.blocking.is_some() {
        quote! {
            #private::call_blocking(move || {
                #takes
                #private::finish::<Self, #index, _>(#call)
            })
        }
    } else {
        quote! {
            #private::call_async(async move {
                #takes
                #private::finish::<Self, #index, _>(#call.await)
            })
        }
    }
}

/// Decodes what the handler takes.
fn expand_takes(flow: &Flow, step: &Step) -> TokenStream {
    let deps = &step.deps_struct;
    let mut takes = TokenStream::new();
    let mut fields = Vec::new();
    for param in &step.params {
        let (name, ty) = (&param.name, &param.ty);
        let text = name.to_string();
        match &param.role {
            Role::Context => {}
            Role::Input => {
                let input = input_trait();
                takes.extend(quote!(let __input = <#ty as #input>::take(&__args)?;));
            }
            Role::Item => {
                let item = item_trait(step);
                takes.extend(quote!(let __item = <#ty as #item>::take(&__args)?;));
            }
            Role::Output(reference) => {
                let output = reference.target.map(|declared| output_trait(&flow.steps[declared]));
                fields.push(quote!(#name: <#ty as #output>::take(&__args, #text)?));
            }
        }
    }
    if !fields.is_empty() {
        takes.extend(quote!(let __deps = #deps { #(#fields),* };));
    }
    takes
}
