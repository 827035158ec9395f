//! Expands `impl Handlers`, which decodes JSON arguments, calls the user's methods and encodes their results.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::{checks, steps::enum_name};
use crate::{
    model::{Flow, ParamRole, Returned, Step},
    text::last_word,
};

pub(super) fn expand(flow: &Flow) -> TokenStream {
    let generated = &flow.helpers;
    let (self_ty, step_enum) = (&flow.self_ty, enum_name(flow));
    let (impl_generics, _, _) = flow.generics.split_for_impl();
    let bounds = checks::expand_assumptions(flow);
    let owned = checks::expand_ownership(flow);
    let takes_input = expand_matches(flow, Step::takes_input);
    let is_blocking = expand_matches(flow, |step| step.blocking.is_some());
    let arms = flow.in_order().map(|step| {
        let variant = &step.variant;
        let call = if step.is_sound { expand_call(flow, step) } else { quote!(#generated::stand_in()) };
        quote!(#step_enum::#variant => #call)
    });
    quote! {
        #[automatically_derived]
        impl #impl_generics #generated::Handlers for #self_ty #owned {
            fn takes_input(step: Self::Step) -> #generated::bool {
                #takes_input
            }

            fn is_blocking(step: Self::Step) -> #generated::bool {
                #is_blocking
            }

            fn share(self: #generated::Arc<Self>) -> #generated::SharedHandlers<Self::Step> {
                #generated::Sharing::<Self>::of().share(self)
            }
        }

        #[automatically_derived]
        impl #impl_generics #generated::Calls for #self_ty #bounds {
            fn call(
                self: #generated::Arc<Self>,
                step: Self::Step,
                __args: #generated::StepArgs,
                __ctx: #generated::StepContext,
            ) -> #generated::StepCall {
                match step { #(#arms,)* }
            }
        }
    }
}

/// Expands the trait without calls of handlers.
pub(super) fn expand_unchecked(flow: &Flow) -> TokenStream {
    let Flow { helpers: generated, self_ty, generics, .. } = flow;
    let (impl_generics, _, _) = generics.split_for_impl();
    let owned = checks::expand_ownership(flow);
    quote! {
        #[automatically_derived]
        impl #impl_generics #generated::Handlers for #self_ty #owned {
            fn takes_input(_: Self::Step) -> #generated::bool {
                #generated::stand_in()
            }

            fn is_blocking(_: Self::Step) -> #generated::bool {
                #generated::stand_in()
            }

            fn share(self: #generated::Arc<Self>) -> #generated::SharedHandlers<Self::Step> {
                #generated::stand_in()
            }
        }
    }
}

/// Expands a test whether `step` is one of the steps that `is_meant` picks.
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
    let generated = &flow.helpers;
    let method = &step.method;
    let (check, returned) = expand_return_check(flow, step).unzip();
    let (takes, arguments) = expand_arguments(flow, step);
    // rustc reports a future that no worker can move at these tokens, so they get the span of the user's code.
    let at = step.place_of_wait();
    let here = checks::respanned(generated.clone(), at);
    if step.blocking.is_some() {
        let call = quote! {
            #takes
            let __returned = Self::#method(&self, #(#arguments),*);
            #returned(__returned).end()
        };
        let call = quote_spanned!(at=> #here::call_blocking(move || { #call }));
        return quote!({ #check #call });
    }
    let mut future = quote!(Self::#method(&self, #(#arguments),*));
    if step.is_holding_borrow() {
        // `expand_future_check` checks this future by itself, so here it passes unchecked.
        future = quote!(#generated::Passed(#future).on());
    }
    let call = quote! {
        let __returned = #future.await;
        #returned(__returned).end()
    };
    let call = quote_spanned!(at=> #here::call_async(async move { #call }));
    quote!({ #check #takes #call })
}

/// Expands two checks of what the handler returned: of the written error type alone, where there is one, and of the
/// whole, which must be a `Result` of the output with an error that a step may fail with.
fn expand_return_check(flow: &Flow, step: &Step) -> Option<(Option<TokenStream>, TokenStream)> {
    let generated = &flow.helpers;
    let Returned { whole, output, error } = step.returned.as_ref()?;
    let at = whole.span();
    // Most steps fail with `StepError`, for which the check of the whole is enough.
    let error = error.as_ref().filter(|error| last_word(error).is_none_or(|word| word != "StepError"));
    Some(match error {
        None => (None, quote_spanned!(at=> #generated::returned::<#output, _>)),
        Some(error) => (
            Some(quote!(#generated::fails_with::<#error>();)),
            quote_spanned!(at=> #generated::Failure::<#error>::of().returned::<#output, _>),
        ),
    })
}

/// Expands the statements that decode each argument before the call, and the arguments of the call.
///
/// Decoding uses `match` instead of `?`, because rustc compiles `match` faster.
fn expand_arguments(flow: &Flow, step: &Step) -> (TokenStream, Vec<TokenStream>) {
    let generated = &flow.helpers;
    let (check, list) = checks::expand_source(flow, step).unzip();
    let mut takes = check.unwrap_or_default();
    let mut arguments = Vec::new();
    let failed = Ident::new(if step.blocking.is_some() { "Err" } else { "call_failed" }, Span::call_site());
    for (place, param) in step.params.iter().enumerate() {
        let ty = &param.ty;
        let decoded = match &param.role {
            ParamRole::Context => {
                arguments.push(quote!(#generated::context::<#ty>(&__ctx)));
                continue;
            }
            ParamRole::Input => checks::expand_input(param),
            ParamRole::Item => quote!(#generated::Elements::<#list>::of().take::<#ty>(&__args)),
            // Only steps whose names are all known get here, so `target` is always there.
            ParamRole::Output(reference) => {
                reference.target.map(|target| checks::expand_output(flow, param, target)).unwrap_or_default()
            }
        };
        let argument = format_ident!("__arg{place}", span = Span::call_site());
        takes.extend(quote! {
            let #argument = match #decoded {
                #generated::Ok(value) => value,
                #generated::Err(error) => return #generated::#failed(error),
            };
        });
        arguments.push(quote!(#argument));
    }
    (takes, arguments)
}
