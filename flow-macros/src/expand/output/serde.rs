//! Expands serde impls of the output struct. They are written out, because a derive would repeat errors about types
//! that are refused elsewhere.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::output_name;
use crate::model::{Flow, Step};

pub(super) fn expand_serialize(flow: &Flow) -> TokenStream {
    let generated = &flow.helpers;
    let name = output_name(flow);
    let writes = flow.leaves().into_iter().filter_map(|(step, may_lack)| expand_write(flow, step, may_lack));
    quote! {
        #[automatically_derived]
        impl #generated::serde::Serialize for #name {
            fn serialize<S: #generated::serde::Serializer>(&self, serializer: S) -> #generated::Result<S::Ok, S::Error> {
                #generated::write_output::<S>(serializer, |__output| {
                    #(#writes)*
                    #generated::Ok(())
                })
            }
        }
    }
}

fn expand_write(flow: &Flow, step: &Step, may_lack: bool) -> Option<TokenStream> {
    let generated = &flow.helpers;
    let (field, slug) = (&step.method, &step.slug.value);
    let output = step.whole_output(generated)?;
    let write =
        |value: TokenStream| quote!(#generated::Carrier::<#output>::of().write_field(__output, #slug, #value)?;);
    Some(if may_lack {
        let write = write(quote!(__leaf));
        quote! {
            if let #generated::Some(__leaf) = &self.#field {
                #write
            }
        }
    } else {
        write(quote!(&self.#field))
    })
}

pub(super) fn expand_deserialize(flow: &Flow) -> TokenStream {
    let generated = &flow.helpers;
    let name = output_name(flow);
    let leaves = flow.leaves();
    let places: Vec<Ident> = (0..leaves.len()).map(|place| format_ident!("__leaf{place}")).collect();
    let slugs: Vec<&str> = leaves.iter().map(|(step, _)| step.slug.value.as_str()).collect();
    let outputs: Vec<TokenStream> = leaves.iter().filter_map(|(step, _)| step.whole_output(generated)).collect();
    let fields = leaves.iter().zip(&places).map(|((step, may_lack), place)| {
        let (field, slug) = (&step.method, &step.slug.value);
        if *may_lack { quote!(#field: #place) } else { quote!(#field: #generated::required_field(#place, #slug)?) }
    });
    quote! {
        #[automatically_derived]
        impl #generated::OutputFields for #name {
            fn read<'de, A: #generated::serde::de::MapAccess<'de>>(__map: &mut A) -> #generated::Result<Self, A::Error> {
                #(let mut #places: #generated::Option<#outputs> = #generated::None;)*
                while let #generated::Some(__name) = #generated::next_field(__map)? {
                    match &*__name {
                        #(#slugs => #places = #generated::Carrier::<#outputs>::of().read_field(__map)?,)*
                        _ => #generated::skip_field(__map)?,
                    }
                }
                #generated::Ok(Self { #(#fields),* })
            }
        }

        #[automatically_derived]
        impl<'de> #generated::serde::Deserialize<'de> for #name {
            fn deserialize<D: #generated::serde::Deserializer<'de>>(output: D) -> #generated::Result<Self, D::Error> {
                #generated::read_output(output)
            }
        }
    }
}
