//! The path of `flow-runtime` in generated code; no other file spells it.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// The path under which generated code finds its helpers: `::flow_runtime::__private`.
pub(crate) fn private_path(said: Option<&syn::Path>) -> TokenStream {
    match said {
        Some(path) => quote!(#path::__private),
        None => {
            let name = Ident::new(&runtime_name(), Span::call_site());
            quote!(::#name::__private)
        }
    }
}

/// The name of the runtime crate in the user's `Cargo.toml`.
fn runtime_name() -> String {
    match crate_name("flow-runtime") {
        Ok(FoundCrate::Name(name)) => name,
        // The runtime itself, its tests and its examples; and programs that reach it through another crate.
        Ok(FoundCrate::Itself) | Err(_) => "flow_runtime".to_owned(),
    }
}
