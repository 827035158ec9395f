//! Emits what a flow with mistakes becomes: the errors, the user's items, the public names, and the checks of the sound steps.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Path;

use crate::{
    diag::Diag,
    expand,
    model::{Flow, Step},
    parse::{Method, Parsed},
};

/// Emits a flow whose block could be read.
pub(crate) fn with_model(parsed: &Parsed, flow: &Flow, errors: TokenStream) -> TokenStream {
    let block = without_follow_ups(parsed, flow);
    // An earlier flow that gives the same names has defined them already.
    let rest = flow.earlier_block.is_none().then(|| expand::expand_faulty(flow));
    quote! { #errors #block #rest }
}

/// The user's block without parts that would cause further errors: a method that lacks `async` and awaits gets `async`.
fn without_follow_ups(parsed: &Parsed, flow: &Flow) -> TokenStream {
    let is_meant_async = |method: &Method| {
        let lacks_it =
            |step: &Step| step.method == method.sig.ident && step.lacks_async() && !step.has_written_future();
        flow.steps.iter().any(lacks_it) && holds_await(method.body.to_token_stream())
    };
    // Unknown attributes that may be renamed markers are removed: as macros outside `#[flow]` they would report an error of their own.
    let has_renamed_markers = flow.steps.is_empty() && !flow.unknown_attrs.is_empty();
    parsed.user_block_with(|method| {
        let mut method = method.clone();
        if is_meant_async(&method) {
            method.make_async();
        }
        if has_renamed_markers {
            method.attrs.retain(|attr| !flow.unknown_attrs.iter().any(|unknown| is_same(unknown, attr.path())));
        }
        method.into_token_stream()
    })
}

fn is_same(one: &Path, other: &Path) -> bool {
    one.to_token_stream().to_string() == other.to_token_stream().to_string()
}

fn holds_await(body: TokenStream) -> bool {
    body.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "await",
        TokenTree::Group(group) => holds_await(group.stream()),
        _ => false,
    })
}

/// Emits an item that is no `impl` block: the errors, and the item without flow's markers.
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
