//! Expands the output struct: one field for each leaf step.

mod serde;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{import_helpers, quiet};
use crate::model::Flow;

/// The name of the output struct.
pub(super) fn output_name(flow: &Flow) -> &Ident {
    &flow.output_struct.name
}

pub(super) fn expand(flow: &Flow) -> TokenStream {
    let generated = &flow.generated;
    let fields = flow.leaves().into_iter().filter_map(|(step, may_lack)| {
        let slug = &step.slug.value;
        let output = optional(generated, step.whole_output(generated)?, may_lack);
        let end = if may_lack { " `None` when it was skipped." } else { "" };
        let doc = format!(" The output of step `{slug}`.{end}");
        let field = &step.method;
        Some(quote!(#[doc = #doc] pub #field: #output))
    });
    let item = expand_struct(flow, fields);
    let traits =
        [expand_debug(flow), expand_clone(flow), serde::expand_serialize(flow), serde::expand_deserialize(flow)];
    let quiet = quiet();
    let helpers = import_helpers(flow);
    quote! {
        #item
        #quiet
        const _: () = { #helpers #(#traits)* };
    }
}

/// Expands the struct without the impls that compile only when its types are right.
pub(super) fn expand_stand_in(flow: &Flow) -> TokenStream {
    let generated = &flow.generated;
    let name = output_name(flow);
    let fields = flow.leaves().into_iter().map(|(step, may_lack)| {
        let output = step
            .output()
            .filter(|output| flow.can_stand_alone(output))
            .and(step.whole_output(generated))
            .unwrap_or_else(|| quote!(()));
        let (field, output) = (&step.method, optional(generated, output, may_lack));
        quote!(#[allow(missing_docs)] pub #field: #output)
    });
    let item = expand_struct(flow, fields);
    let serde = quote!(#generated::serde);
    quote! {
        #item

        #[automatically_derived]
        impl<'de> #serde::Deserialize<'de> for #name {
            fn deserialize<D: #serde::Deserializer<'de>>(_: D) -> #generated::Result<Self, D::Error> {
                #generated::stand_in()
            }
        }

        #[automatically_derived]
        impl #generated::Clone for #name {
            fn clone(&self) -> Self {
                #generated::stand_in()
            }
        }

        #[automatically_derived]
        impl #generated::PartialEq for #name {
            fn eq(&self, _: &Self) -> #generated::bool {
                #generated::stand_in()
            }
        }

        #[automatically_derived]
        impl #serde::Serialize for #name {
            fn serialize<S: #serde::Serializer>(&self, _: S) -> #generated::Result<S::Ok, S::Error> {
                #generated::stand_in()
            }
        }

        #[automatically_derived]
        impl #generated::fmt::Debug for #name {
            fn fmt(&self, _: &mut #generated::fmt::Formatter<'_>) -> #generated::fmt::Result {
                #generated::stand_in()
            }
        }
    }
}

fn expand_struct(flow: &Flow, fields: impl Iterator<Item = TokenStream>) -> TokenStream {
    let (name, quiet) = (output_name(flow), quiet());
    let doc = format!(" The output of a run of [`{}`]: what its last steps returned.", flow.name);
    quote! {
        #[doc = #doc]
        #quiet
        pub struct #name { #(#fields),* }
    }
}

fn expand_debug(flow: &Flow) -> TokenStream {
    let generated = &flow.helpers;
    let name = output_name(flow);
    let text = name.to_string();
    let fields = flow.leaves().into_iter().map(|(step, _)| {
        let (field, text) = (&step.method, step.method_name());
        quote!((#text, #generated::Shown(&self.#field).shown()))
    });
    quote! {
        #[automatically_derived]
        impl #generated::fmt::Debug for #name {
            fn fmt(&self, f: &mut #generated::fmt::Formatter<'_>) -> #generated::fmt::Result {
                #generated::show_output(f, #text, &[#(#fields),*])
            }
        }
    }
}

/// Expands impls of `Clone` and `PartialEq`, which apply where every field's type has them.
fn expand_clone(flow: &Flow) -> TokenStream {
    let generated = &flow.helpers;
    let name = output_name(flow);
    let leaves = flow.leaves();
    let fields: Vec<_> = leaves.iter().map(|(step, _)| &step.method).collect();
    let types: Vec<_> = leaves
        .iter()
        .filter_map(|(step, may_lack)| Some(optional(generated, step.whole_output(generated)?, *may_lack)))
        .collect();
    // Behind a `for<…>` lifetime rustc accepts a bound that does not hold: the impl then does not apply.
    quote! {
        #[automatically_derived]
        impl #generated::Clone for #name
        where
            #(for<'__any> #types: #generated::Clone,)*
        {
            fn clone(&self) -> Self {
                Self { #(#fields: #generated::Clone::clone(&self.#fields)),* }
            }
        }

        #[automatically_derived]
        impl #generated::PartialEq for #name
        where
            #(for<'__any> #types: #generated::PartialEq,)*
        {
            fn eq(&self, __other: &Self) -> #generated::bool {
                true #(&& #generated::PartialEq::eq(&self.#fields, &__other.#fields))*
            }
        }
    }
}

fn optional(generated: &TokenStream, output: TokenStream, may_lack: bool) -> TokenStream {
    if may_lack { quote!(#generated::Option<#output>) } else { output }
}
