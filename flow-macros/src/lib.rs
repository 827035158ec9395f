//! The `#[flow]` attribute.

mod beside;
mod diag;
mod expand;
mod fallback;
mod model;
mod parse;
mod paths;
mod text;
mod validate;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as TokenStream2;

use crate::diag::Diag;

#[doc = include_str!("manual.md")]
#[proc_macro_attribute]
pub fn flow(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_flow(options.into(), item.into()).into()
}

/// Marks a method inside `#[flow]` as a step: one task.
///
/// `#[flow]` takes this attribute away; it needs no import.
#[proc_macro_attribute]
pub fn step(_options: TokenStream, item: TokenStream) -> TokenStream {
    misplaced("step", item.into()).into()
}

/// Marks a method inside `#[flow]` as a map: one task for each element of its source.
///
/// `#[flow]` takes this attribute away; it needs no import.
#[proc_macro_attribute]
pub fn map(_options: TokenStream, item: TokenStream) -> TokenStream {
    misplaced("map", item.into()).into()
}

fn expand_flow(options: TokenStream2, item: TokenStream2) -> TokenStream2 {
    let mut diag = Diag::default();
    let Some(parsed) = parse::parse(options, item.clone(), &mut diag) else {
        return fallback::without_model(item, diag);
    };
    let mut model = model::build(&parsed, &mut diag);
    validate::check(&model, &mut diag);
    model.set_soundness(&diag);
    match diag.finish() {
        Ok(()) if model.is_sound() => expand::expand(&parsed, &model),
        Ok(()) => fallback::with_model(&parsed, &model, TokenStream2::new()),
        Err(errors) => fallback::with_model(&parsed, &model, errors),
    }
}

fn misplaced(marker: &str, item: TokenStream2) -> TokenStream2 {
    let text = format!(
        "`#[{marker}]` marks a method in an `impl` block under `#[flow(…)]`; put `#[flow(input = …)]` on the block, and \
         inside it write `#[{marker}]`, which needs no import"
    );
    let error = syn::Error::new(proc_macro2::Span::call_site(), text).to_compile_error();
    quote::quote! { #error #item }
}

#[cfg(test)]
mod tests;
