//! What is emitted for a flow with mistakes: the errors, the user's items, and stand-ins for the public names.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;

use crate::{diag::Diag, expand, model::Flow, parse::Parsed};

/// For a block that could be read.
pub(crate) fn with_model(parsed: &Parsed, flow: &Flow, errors: TokenStream) -> TokenStream {
    let block = parsed.user_block();
    let stand_ins = expand::stand_ins(flow);
    quote! { #errors #block #stand_ins }
}

/// For what is no `impl` block: the errors and the item without our markers.
pub(crate) fn without_model(item: TokenStream, diag: Diag) -> TokenStream {
    let item = without_markers(item);
    match diag.finish() {
        Ok(()) => item,
        Err(errors) => quote! { #errors #item },
    }
}

fn without_markers(tokens: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in tokens {
        let after_pound = matches!(kept.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#');
        match token {
            TokenTree::Group(group) if after_pound && is_marker(&group) => {
                kept.pop();
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), without_markers(group.stream()));
                inner.set_span(group.span());
                kept.push(TokenTree::Group(inner));
            }
            other => kept.push(other),
        }
    }
    kept.into_iter().collect()
}

fn is_marker(group: &Group) -> bool {
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket
        && matches!(first, Some(TokenTree::Ident(name)) if name == "step" || name == "map" || name == "from")
}
