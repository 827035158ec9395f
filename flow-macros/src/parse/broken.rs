//! Reads as much as possible of a method with a syntax error, so that the rest of the flow still knows the step.
//!
//! The broken tokens are not emitted: rustc has reported their error, and would report it again in the expansion.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::{FnArg, ReturnType, Signature, Type, parse_quote};

/// The signature of the method in `item`, with those parameters and the return type that can be read; `None` when
/// `item` has no `fn` with a name.
pub(super) fn salvage(item: &TokenStream) -> Option<Signature> {
    let tokens: Vec<TokenTree> = item.clone().into_iter().collect();
    let place = tokens.iter().position(|token| matches!(token, TokenTree::Ident(word) if word == "fn"))?;
    let Some(TokenTree::Ident(name)) = tokens.get(place + 1) else { return None };
    let params = tokens[place..].iter().position(is_group(Delimiter::Parenthesis)).map(|found| place + found);
    let inputs = params.map(|params| read_params(&tokens[params])).unwrap_or_default();
    let behind = params.map_or(&[][..], |params| &tokens[params + 1..]);
    let output = read_return(behind);
    let asyncness = tokens[..place].iter().find(|token| matches!(token, TokenTree::Ident(word) if word == "async"));
    Some(parse_quote!(#asyncness fn #name(#(#inputs),*) #output))
}

/// Whether the item is a method, also when the method has no name.
pub(super) fn is_method(item: &TokenStream) -> bool {
    item.clone().into_iter().any(|token| matches!(token, TokenTree::Ident(word) if word == "fn"))
}

/// A body for a broken method; the build fails in any case, so the body never runs.
pub(super) fn body(generated: &TokenStream) -> TokenTree {
    TokenTree::Group(Group::new(Delimiter::Brace, quote!(#generated::stand_in())))
}

fn is_group(delimiter: Delimiter) -> impl Fn(&TokenTree) -> bool {
    move |token| matches!(token, TokenTree::Group(group) if group.delimiter() == delimiter)
}

fn read_params(params: &TokenTree) -> Vec<FnArg> {
    let TokenTree::Group(params) = params else { return Vec::new() };
    let mut parts = vec![TokenStream::new()];
    let mut depth = 0_usize;
    for token in params.stream() {
        if let TokenTree::Punct(punct) = &token {
            match punct.as_char() {
                '<' => depth += 1,
                '>' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    parts.push(TokenStream::new());
                    continue;
                }
                _ => {}
            }
        }
        if let Some(part) = parts.last_mut() {
            part.extend([token]);
        }
    }
    parts.into_iter().filter_map(|part| syn::parse2(part).ok()).collect()
}

/// The return type: the tokens up to the body or `where`, with or without the arrow before them.
fn read_return(behind: &[TokenTree]) -> ReturnType {
    let is_arrow = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if matches!(punct.as_char(), '-' | '>'));
    let is_end = |token: &TokenTree| {
        is_group(Delimiter::Brace)(token) || matches!(token, TokenTree::Ident(word) if word == "where")
    };
    let begin = behind.iter().take(2).take_while(|token| is_arrow(token)).count();
    let ty: TokenStream = behind[begin..].iter().take_while(|token| !is_end(token)).cloned().collect();
    match syn::parse2::<Type>(ty) {
        Ok(ty) => parse_quote!(-> #ty),
        Err(_) => ReturnType::Default,
    }
}
