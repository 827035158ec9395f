//! Methods with their markers; bodies stay tokens.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};
use syn::{
    Attribute, FnArg, Meta, Path, Signature, Token, Visibility,
    parse::{ParseStream, discouraged::Speculative},
    token,
};

use super::options::{self, Written};
use crate::diag::Diag;

/// One item of the block.
pub(crate) enum Item {
    /// A method, marked or not.
    Method(Box<Method>),
    /// Anything else, and whatever is no Rust; passed on as it is.
    Other(Other),
}

/// An item that is passed on as it is.
pub(crate) struct Other {
    pub(crate) tokens: TokenStream,
    pub(crate) is_marked: bool,
}

/// A method of the block, without our attributes.
pub(crate) struct Method {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) marker: Option<Marker>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    /// What `#[from(…)]` says of each parameter, in order.
    pub(crate) from: Vec<Option<TokenStream>>,
    pub(crate) body: TokenTree,
}

/// `#[step(…)]` or `#[map(…)]`.
pub(crate) struct Marker {
    pub(crate) path: Path,
    pub(crate) is_map: bool,
    pub(crate) options: Vec<Written>,
    /// Further markers on the same method.
    pub(crate) doubled: Vec<Span>,
}

impl ToTokens for Method {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(&self.attrs);
        self.vis.to_tokens(tokens);
        self.sig.to_tokens(tokens);
        self.body.to_tokens(tokens);
    }
}

pub(super) fn parse_item(input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<Item> {
    let mut attrs = input.call(Attribute::parse_outer)?;
    let marker = take_marker(&mut attrs, diag);
    let vis: Visibility = input.parse()?;
    let ahead = input.fork();
    if let Ok(mut sig) = ahead.parse::<Signature>()
        && (ahead.peek(token::Brace) || ahead.peek(Token![;]))
    {
        input.advance_to(&ahead);
        let body = input.parse()?;
        let from = sig.inputs.iter_mut().map(take_from).collect();
        return Ok(Item::Method(Box::new(Method { attrs, marker, vis, sig, from, body })));
    }
    let mut tokens = TokenStream::new();
    tokens.append_all(&attrs);
    vis.to_tokens(&mut tokens);
    take_item(input, &mut tokens)?;
    Ok(Item::Other(Other { tokens, is_marked: marker.is_some() }))
}

/// Moves the tokens of one item: up to `;`, or up to a block where no `;` must follow.
fn take_item(input: ParseStream<'_>, tokens: &mut TokenStream) -> syn::Result<()> {
    let ends_at_semicolon = input.peek(Token![const]) || input.peek(Token![type]);
    while !input.is_empty() {
        let is_block = input.peek(token::Brace);
        let is_semicolon = input.peek(Token![;]);
        tokens.append(input.parse::<TokenTree>()?);
        if is_semicolon || (is_block && !ends_at_semicolon) {
            break;
        }
    }
    Ok(())
}

fn take_marker(attrs: &mut Vec<Attribute>, diag: &mut Diag) -> Option<Marker> {
    let mut marker: Option<Marker> = None;
    attrs.retain(|attr| {
        let path = attr.path();
        let is_map = names(path, "map");
        if !is_map && !names(path, "step") {
            return true;
        }
        match &mut marker {
            Some(first) => first.doubled.push(attr.pound_token.spans[0]),
            None => {
                let options = match &attr.meta {
                    Meta::List(list) => options::parse(list.tokens.clone(), diag),
                    Meta::Path(_) => Vec::new(),
                    Meta::NameValue(meta) => {
                        diag.at(meta, "options stand in parentheses: `#[step(slug = \"…\")]`");
                        Vec::new()
                    }
                };
                marker = Some(Marker { path: path.clone(), is_map, options, doubled: Vec::new() });
            }
        }
        false
    });
    marker
}

/// Whether `path` is `name`, or ends with it in a path like `flow_runtime::step`.
fn names(path: &Path, name: &str) -> bool {
    path.is_ident(name) || (path.segments.len() == 2 && path.segments.last().is_some_and(|last| last.ident == name))
}

fn take_from(arg: &mut FnArg) -> Option<TokenStream> {
    let FnArg::Typed(param) = arg else { return None };
    let place = param.attrs.iter().position(|attr| attr.path().is_ident("from"))?;
    match param.attrs.remove(place).meta {
        Meta::List(list) => Some(list.tokens),
        Meta::Path(path) => Some(path.to_token_stream()),
        Meta::NameValue(meta) => Some(meta.to_token_stream()),
    }
}
