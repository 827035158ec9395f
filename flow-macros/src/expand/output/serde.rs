//! How the output is read and written: by hand, so that serde does not ask once more for what was refused.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::output_name;
use crate::model::{Flow, Step};

pub(super) fn expand_serialize(flow: &Flow) -> TokenStream {
    let private = &flow.private;
    let name = output_name(flow);
    let writes = flow.leaves().into_iter().filter_map(|(step, may_lack)| expand_write(flow, step, may_lack));
    quote! {
        #[automatically_derived]
        impl #private::serde::Serialize for #name {
            fn serialize<S: #private::serde::Serializer>(&self, serializer: S) -> #private::Result<S::Ok, S::Error> {
                #[allow(unused_imports)]
                use #private::{NoCarrier as _, serde::ser::SerializeMap as _};
                let mut map = serializer.serialize_map(#private::None)?;
                #(#writes)*
                map.end()
            }
        }
    }
}

fn expand_write(flow: &Flow, step: &Step, may_lack: bool) -> Option<TokenStream> {
    let private = &flow.private;
    let (field, slug) = (&step.method, &step.slug.value);
    let output = step.whole_output(private)?;
    let write = |value: TokenStream| quote!(#private::Carrier::<#output>::of().write_field(&mut map, #slug, #value)?;);
    Some(if may_lack {
        let write = write(quote!(leaf));
        quote! {
            if let #private::Some(leaf) = &self.#field {
                #write
            }
        }
    } else {
        write(quote!(&self.#field))
    })
}

pub(super) fn expand_deserialize(flow: &Flow) -> TokenStream {
    let private = &flow.private;
    let name = output_name(flow);
    let leaves = flow.leaves();
    let places: Vec<Ident> = (0..leaves.len()).map(|place| format_ident!("__leaf{place}")).collect();
    let slugs: Vec<&str> = leaves.iter().map(|(step, _)| step.slug.value.as_str()).collect();
    let outputs: Vec<TokenStream> = leaves.iter().filter_map(|(step, _)| step.whole_output(private)).collect();
    let fields = leaves.iter().zip(&places).map(|((step, may_lack), place)| {
        let (field, slug) = (&step.method, &step.slug.value);
        if *may_lack {
            return quote!(#field: #place);
        }
        quote! {
            #field: match #place {
                #private::Some(leaf) => leaf,
                #private::None => return #private::Err(#private::serde::de::Error::missing_field(#slug)),
            }
        }
    });
    quote! {
        const _: () = {
            struct __Visitor;

            impl<'de> #private::serde::de::Visitor<'de> for __Visitor {
                type Value = #name;

                fn expecting(&self, f: &mut #private::fmt::Formatter<'_>) -> #private::fmt::Result {
                    f.write_str("the outputs of a run")
                }

                fn visit_map<A: #private::serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> #private::Result<Self::Value, A::Error> {
                    #[allow(unused_imports)]
                    use #private::NoCarrier as _;
                    #(let mut #places: #private::Option<#outputs> = #private::None;)*
                    while let #private::Some(#private::FieldName(name)) = map.next_key()? {
                        match name.as_str() {
                            #(#slugs => #places = #private::Some(#private::Carrier::<#outputs>::of().read_field(&mut map)?),)*
                            _ => {
                                map.next_value::<#private::serde::de::IgnoredAny>()?;
                            }
                        }
                    }
                    #private::Ok(#name { #(#fields),* })
                }
            }

            #[automatically_derived]
            impl<'de> #private::serde::Deserialize<'de> for #name {
                fn deserialize<D: #private::serde::Deserializer<'de>>(output: D) -> #private::Result<Self, D::Error> {
                    output.deserialize_map(__Visitor)
                }
            }
        };
    }
}
