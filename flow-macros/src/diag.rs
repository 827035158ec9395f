//! Collects errors, so that one build reports every mistake of a flow.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Diag {
    errors: Vec<syn::Error>,
}

impl Diag {
    /// Reports a mistake at `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, text: impl Display) {
        self.errors.push(syn::Error::new_spanned(tokens, text));
    }

    /// Reports a mistake at `span`.
    pub(crate) fn at_span(&mut self, span: Span, text: impl Display) {
        self.errors.push(syn::Error::new(span, text));
    }

    /// Takes over an error of the parser.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.errors.push(error);
    }

    /// The value, or nothing and its error reported.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Nothing when there was no mistake, else one `compile_error!` for each.
    pub(crate) fn finish(self) -> Result<(), TokenStream> {
        if self.errors.is_empty() {
            return Ok(());
        }
        Err(self.errors.iter().map(syn::Error::to_compile_error).collect())
    }
}
