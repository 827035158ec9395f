//! The output struct: one field a leaf step.

mod serde;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use crate::model::Flow;

/// The name of the output struct.
pub(super) fn output_name(flow: &Flow) -> Ident {
    format_ident!("{}Output", flow.name, span = Span::call_site())
}

pub(super) fn expand(flow: &Flow) -> TokenStream {
    let private = &flow.private;
    let fields = flow.leaves().into_iter().filter_map(|(step, may_lack)| {
        let slug = &step.slug.value;
        let output = optional(flow, step.whole_output(private)?, may_lack);
        let end = if may_lack { " `None` when it was skipped." } else { "" };
        let doc = format!(" The output of step `{slug}`.{end}");
        let field = &step.method;
        Some(quote!(#[doc = #doc] pub #field: #output))
    });
    let item = expand_struct(flow, fields);
    let debug = expand_debug(flow);
    let serialize = serde::expand_serialize(flow);
    let deserialize = serde::expand_deserialize(flow);
    quote! { #item #debug #serialize #deserialize }
}

/// The struct without what needs its types to be right.
pub(super) fn expand_stand_in(flow: &Flow) -> TokenStream {
    let private = &flow.private;
    let name = output_name(flow);
    let fields = flow.leaves().into_iter().filter_map(|(step, may_lack)| {
        let output =
            step.output.as_ref().filter(|output| flow.can_stand_alone(output)).and(step.whole_output(private))?;
        let (field, output) = (&step.method, optional(flow, output, may_lack));
        Some(quote!(#[allow(missing_docs)] pub #field: #output))
    });
    let item = expand_struct(flow, fields);
    let serde = quote!(#private::serde);
    quote! {
        #item

        #[automatically_derived]
        impl<'de> #serde::Deserialize<'de> for #name {
            fn deserialize<D: #serde::Deserializer<'de>>(_: D) -> #private::Result<Self, D::Error> {
                #private::stand_in()
            }
        }

        #[automatically_derived]
        impl #private::fmt::Debug for #name {
            fn fmt(&self, _: &mut #private::fmt::Formatter<'_>) -> #private::fmt::Result {
                #private::stand_in()
            }
        }
    }
}

fn expand_struct(flow: &Flow, fields: impl Iterator<Item = TokenStream>) -> TokenStream {
    let name = output_name(flow);
    let doc = format!(" The output of a run of [`{}`]: what its last steps returned.", flow.name);
    quote! {
        #[doc = #doc]
        #[allow(private_interfaces, unreachable_pub, dead_code)]
        pub struct #name { #(#fields),* }
    }
}

fn expand_debug(flow: &Flow) -> TokenStream {
    let private = &flow.private;
    let name = output_name(flow);
    let text = name.to_string();
    let fields = flow.leaves().into_iter().map(|(step, _)| {
        let (field, text) = (&step.method, step.method_name());
        quote!(.field(#text, #private::Shown(&self.#field).shown()))
    });
    quote! {
        #[automatically_derived]
        impl #private::fmt::Debug for #name {
            fn fmt(&self, f: &mut #private::fmt::Formatter<'_>) -> #private::fmt::Result {
                #[allow(unused_imports)]
                use #private::ShownAnyhow as _;
                f.debug_struct(#text) #(#fields)* .finish()
            }
        }
    }
}

fn optional(flow: &Flow, output: TokenStream, may_lack: bool) -> TokenStream {
    let private = &flow.private;
    if may_lack { quote!(#private::Option<#output>) } else { output }
}
