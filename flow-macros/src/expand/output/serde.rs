//! How the output is read and written: by hand, so that serde does not ask once more for what was refused.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::output_name;
use crate::model::{Flow, Step};

pub(super) fn expand_serialize(flow: &Flow) -> TokenStream {
    let private = &flow.helpers;
    let name = output_name(flow);
    let writes = flow.leaves().into_iter().filter_map(|(step, may_lack)| expand_write(flow, step, may_lack));
    quote! {
        #[automatically_derived]
        impl #private::serde::Serialize for #name {
            fn serialize<S: #private::serde::Serializer>(&self, serializer: S) -> #private::Result<S::Ok, S::Error> {
                #private::write_output::<S>(serializer, |__output| {
                    #(#writes)*
                    #private::Ok(())
                })
            }
        }
    }
}

fn expand_write(flow: &Flow, step: &Step, may_lack: bool) -> Option<TokenStream> {
    let private = &flow.helpers;
    let (field, slug) = (&step.method, &step.slug.value);
    let output = step.whole_output(private)?;
    let write = |value: TokenStream| quote!(#private::Carrier::<#output>::of().write_field(__output, #slug, #value)?;);
    Some(if may_lack {
        let write = write(quote!(__leaf));
        quote! {
            if let #private::Some(__leaf) = &self.#field {
                #write
            }
        }
    } else {
        write(quote!(&self.#field))
    })
}

pub(super) fn expand_deserialize(flow: &Flow) -> TokenStream {
    let private = &flow.helpers;
    let name = output_name(flow);
    let leaves = flow.leaves();
    let places: Vec<Ident> = (0..leaves.len()).map(|place| format_ident!("__leaf{place}")).collect();
    let slugs: Vec<&str> = leaves.iter().map(|(step, _)| step.slug.value.as_str()).collect();
    let outputs: Vec<TokenStream> = leaves.iter().filter_map(|(step, _)| step.whole_output(private)).collect();
    let fields = leaves.iter().zip(&places).map(|((step, may_lack), place)| {
        let (field, slug) = (&step.method, &step.slug.value);
        if *may_lack { quote!(#field: #place) } else { quote!(#field: #private::required_field(#place, #slug)?) }
    });
    quote! {
        #[automatically_derived]
        impl #private::OutputFields for #name {
            fn read<'de, A: #private::serde::de::MapAccess<'de>>(__map: &mut A) -> #private::Result<Self, A::Error> {
                #(let mut #places: #private::Option<#outputs> = #private::None;)*
                while let #private::Some(__name) = #private::next_field(__map)? {
                    match &*__name {
                        #(#slugs => #places = #private::Carrier::<#outputs>::of().read_field(__map)?,)*
                        _ => #private::skip_field(__map)?,
                    }
                }
                #private::Ok(Self { #(#fields),* })
            }
        }

        #[automatically_derived]
        impl<'de> #private::serde::Deserialize<'de> for #name {
            fn deserialize<D: #private::serde::Deserializer<'de>>(output: D) -> #private::Result<Self, D::Error> {
                #private::read_output(output)
            }
        }
    }
}
