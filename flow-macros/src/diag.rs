//! Collects errors, so that one build reports every mistake of a flow.

use std::{collections::HashSet, fmt::Display};

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Diag {
    errors: Vec<syn::Error>,
    /// The step that is being checked, by its place in order of declaration; `None` while the flow itself is.
    step: Option<usize>,
    faulty: HashSet<usize>,
}

impl Diag {
    /// Counts mistakes that are reported from now on as mistakes of step `place`.
    pub(crate) fn enter_step(&mut self, place: usize) {
        self.step = Some(place);
    }

    /// Counts mistakes that are reported from now on as mistakes of the flow.
    pub(crate) fn leave_steps(&mut self) {
        self.step = None;
    }

    /// Whether a mistake of step `place` was reported.
    pub(crate) fn is_faulty(&self, place: usize) -> bool {
        self.faulty.contains(&place)
    }

    /// Reports a mistake at `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, text: impl Display) {
        self.push(syn::Error::new_spanned(tokens, text));
    }

    /// Reports a mistake at `span`.
    pub(crate) fn at_span(&mut self, span: Span, text: impl Display) {
        self.push(syn::Error::new(span, text));
    }

    /// Reports an error, such as one of the parser.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.faulty.extend(self.step);
        self.errors.push(error);
    }

    /// Returns the value; reports an error and returns `None` in its place.
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
