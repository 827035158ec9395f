//! From a checked model to tokens; cannot fail.

mod adapters;
mod checks;
mod definition;
mod output;
mod steps;

use proc_macro2::TokenStream;
use quote::quote;

use crate::{model::Flow, parse::Parsed};

/// The user's block and everything beside it.
pub(crate) fn expand(parsed: &Parsed, flow: &Flow) -> TokenStream {
    let block = parsed.user_block();
    let items = public_items(flow);
    let output = output::expand(flow);
    let checks = checks::expand(flow);
    let definition = definition::expand(flow);
    let handlers = adapters::expand(flow);
    quote! {
        #block
        #items
        #output
        #[allow(private_interfaces, dead_code, non_local_definitions)]
        const _: () = {
            #checks
            #definition
            #handlers
        };
    }
}

/// What the user may name, but for the output: the step enum, the keys and the dependency structs.
fn public_items(flow: &Flow) -> TokenStream {
    let step_enum = steps::expand_enum(flow);
    let keys = steps::expand_keys(flow);
    let deps = steps::expand_deps(flow);
    quote! { #step_enum #keys #deps }
}

/// The public names of a flow with mistakes, with stand-ins for their implementations.
pub(crate) fn stand_ins(flow: &Flow) -> TokenStream {
    let items = public_items(flow);
    let output = output::expand_stand_in(flow);
    let definition = definition::expand_stand_in(flow);
    let handlers = adapters::expand_stand_in(flow);
    quote! {
        #items
        #output
        #[allow(private_interfaces, dead_code, non_local_definitions)]
        const _: () = { #definition #handlers };
    }
}
