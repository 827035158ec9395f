//! Rewrites types of the block so that they hold outside of the block.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;

/// The type with `Self` replaced by the block's type, so that the type can stand outside the block.
pub(crate) fn without_self(ty: &Type, self_ty: &Type) -> Type {
    let tokens = replace_self(ty.to_token_stream(), self_ty);
    syn::parse2(tokens).unwrap_or_else(|_| ty.clone())
}

fn replace_self(tokens: TokenStream, self_ty: &Type) -> TokenStream {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Ident(word) if word == "Self" => self_ty.to_token_stream(),
            TokenTree::Group(group) => {
                let mut replaced = proc_macro2::Group::new(group.delimiter(), replace_self(group.stream(), self_ty));
                replaced.set_span(group.span());
                TokenTree::Group(replaced).into_token_stream()
            }
            other => other.into_token_stream(),
        })
        .collect()
}
