//! Turns a model into tokens; cannot fail.

mod adapters;
mod checks;
mod definition;
mod output;
mod steps;

use proc_macro2::TokenStream;
use quote::quote;

use crate::{model::Flow, parse::Parsed};

/// Expands a flow without mistakes: the user's block and everything generated beside it.
pub(crate) fn expand(parsed: &Parsed, flow: &Flow) -> TokenStream {
    let block = parsed.user_block();
    let items = public_items(flow);
    let output = output::expand(flow);
    let definition = definition::expand(flow);
    let hidden = hidden(flow, &definition);
    quote! { #block #items #output #hidden }
}

/// Expands what stands beside the block of a flow with mistakes: the public names, and the checks of the sound steps.
pub(crate) fn expand_faulty(flow: &Flow) -> TokenStream {
    let items = public_items(flow);
    let output = output::expand_stand_in(flow);
    let hidden =
        if flow.is_borrowing() { hidden_of_borrowing(flow) } else { hidden(flow, &definition::expand_stand_in(flow)) };
    quote! { #items #output #hidden }
}

/// Expands the items that the user cannot name: checks, definition and handlers.
fn hidden(flow: &Flow, definition: &TokenStream) -> TokenStream {
    let checks = checks::expand(flow);
    let handlers = adapters::expand(flow);
    let type_check = checks::expand_type_check(flow);
    let quiet = quiet();
    let helpers = import_helpers(flow);
    quote! {
        #quiet
        const _: () = {
            #helpers
            #checks
            #definition
            #handlers
            #type_check
        };
    }
}

/// Expands the trait impls of a flow that borrows, without checks, so that code which uses the flow gives no further errors.
fn hidden_of_borrowing(flow: &Flow) -> TokenStream {
    let quiet = quiet();
    let helpers = import_helpers(flow);
    let definition = definition::expand_unchecked(flow);
    let handlers = adapters::expand_unchecked(flow);
    quote! {
        #quiet
        const _: () = { #helpers #definition #handlers };
    }
}

/// Imports the module of helpers, and by `as _` the traits whose methods generated code calls.
fn import_helpers(flow: &Flow) -> TokenStream {
    let Flow { generated, helpers, .. } = flow;
    quote! {
        #[allow(unused_imports)]
        use #generated as #helpers;
        #[allow(unused_imports)]
        use #generated::{
            NoCarrier as _, NoElements as _, NoEnd as _, NoFailure as _, NoLife as _, NoSharing as _, NotPassed as _, ShownAnyhow as _,
        };
    }
}

/// Expands the items that the user may name, except the output: the step enum, the keys and the dependency structs.
fn public_items(flow: &Flow) -> TokenStream {
    let step_enum = steps::expand_enum(flow);
    let keys = steps::expand_keys(flow);
    let deps = flow.has_deps.then(|| steps::expand_deps(flow));
    quote! { #step_enum #keys #deps }
}

/// Silences lints in generated code that repeats the user's types: a lint reports them where the user wrote them.
fn quiet() -> TokenStream {
    quote! {
        #[allow(
            dead_code,
            deprecated,
            non_local_definitions,
            private_interfaces,
            trivial_bounds,
            unreachable_pub,
            unused_qualifications,
            clippy::all,
            clippy::nursery,
            clippy::pedantic,
            clippy::restriction
        )]
    }
}
