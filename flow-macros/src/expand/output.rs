//! The output struct: one field a leaf step.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use crate::model::Flow;

/// The name of the output struct.
pub(super) fn output_name(flow: &Flow) -> Ident {
    format_ident!("{}Output", flow.name, span = Span::call_site())
}

pub(super) fn expand(flow: &Flow) -> TokenStream {
    let private = &flow.private;
    let name = output_name(flow);
    let doc = format!(" The output of a run of [`{}`]: what its last steps returned.", flow.name);
    let serde = quote!(#private::serde).to_string().replace(' ', "");
    let is_none = quote!(#private::Option::is_none).to_string().replace(' ', "");
    let present = quote!(#private::present).to_string().replace(' ', "");
    let fields = flow.leaves().into_iter().filter_map(|(step, may_lack)| {
        let (field, slug) = (&step.method, &step.slug.value);
        let output = step.whole_output(private)?;
        let doc = format!(" The output of step `{slug}`.");
        Some(if may_lack {
            let doc = format!("{doc} `None` when it was skipped.");
            quote! {
                #[doc = #doc]
                #[serde(rename = #slug, default, deserialize_with = #present, skip_serializing_if = #is_none)]
                pub #field: #private::Option<#output>
            }
        } else {
            quote!(#[doc = #doc] #[serde(rename = #slug)] pub #field: #output)
        })
    });
    quote! {
        #[doc = #doc]
        #[allow(private_interfaces, unreachable_pub, dead_code)]
        #[#private::derive(#private::serde::Serialize, #private::serde::Deserialize)]
        #[serde(crate = #serde)]
        pub struct #name { #(#fields),* }
    }
}
