//! The path of `flow-runtime` in generated code; no other file spells it.

use std::cell::OnceCell;

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Path, ext::IdentExt};

/// The path under which generated code finds its helpers: `::flow_runtime::generated`.
pub(crate) fn generated_path(said: Option<&Path>) -> TokenStream {
    match said {
        Some(path) => quote!(#path::generated),
        None => {
            let name = Ident::new(&runtime_name(), Span::call_site());
            quote!(::#name::generated)
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

/// The paths under which a block may name what the runtime exports.
pub(crate) struct RuntimePath {
    said: Option<Path>,
    name: OnceCell<String>,
}

impl RuntimePath {
    /// The paths for a block whose `crate` option has the value `said`.
    pub(crate) fn new(said: Option<Path>) -> Self {
        Self { said, name: OnceCell::new() }
    }

    /// The path under which generated code finds its helpers.
    pub(crate) fn generated(&self) -> TokenStream {
        generated_path(self.said.as_ref())
    }

    /// Whether `path` is `name` alone, or `name` behind the runtime's path or that of its prelude.
    pub(crate) fn leads_to(&self, path: &Path, name: &str) -> bool {
        if path.is_ident(name) {
            return true;
        }
        let mut words: Vec<String> = path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
        if words.pop().is_none_or(|last| last != name) {
            return false;
        }
        if words.last().is_some_and(|word| word == "prelude") {
            words.pop();
        }
        self.is_runtime(&words)
    }

    fn is_runtime(&self, words: &[String]) -> bool {
        let is_said = |path: &Path| {
            path.segments.iter().map(|segment| segment.ident.unraw().to_string()).eq(words.iter().cloned())
        };
        match words {
            [word] if word == "flow_runtime" || word == self.name.get_or_init(runtime_name) => true,
            _ => self.said.as_ref().is_some_and(is_said),
        }
    }
}
