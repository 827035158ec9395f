//! The `#[flow]` attribute.

mod diag;
mod expand;
mod fallback;
mod model;
mod parse;
mod paths;
mod text;
mod validate;

use proc_macro::TokenStream;

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

fn expand_flow(options: proc_macro2::TokenStream, item: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let mut diag = Diag::default();
    let Some(parsed) = parse::parse(options, item.clone(), &mut diag) else {
        return fallback::without_model(item, diag);
    };
    let model = model::build(&parsed, &mut diag);
    validate::check(&model, &mut diag);
    match diag.finish() {
        Ok(()) => expand::expand(&parsed, &model),
        Err(errors) => fallback::with_model(&parsed, &model, errors),
    }
}

fn misplaced(marker: &str, item: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let text = format!(
        "`#[{marker}]` marks a method in an `impl` block under `#[flow(…)]`; put `#[flow(input = …)]` on the block"
    );
    let error = syn::Error::new(proc_macro2::Span::call_site(), text).to_compile_error();
    quote::quote! { #error #item }
}

#[cfg(test)]
mod tests;
