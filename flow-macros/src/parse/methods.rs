//! Parses the methods of the block with their markers; bodies stay tokens.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::{
    Attribute, FnArg, ImplItem, Meta, Path, Signature, Token, Visibility,
    parse::{ParseStream, Parser, discouraged::Speculative},
    punctuated::Punctuated,
    token,
};

use super::{
    broken,
    options::{self, Options},
};
use crate::{diag::Diag, paths::RuntimePath};

/// One item of the block.
pub(crate) enum Item {
    /// A method, marked or not.
    Method(Box<Method>),
    /// Anything else.
    Other(Other),
}

/// An item that is no method.
pub(crate) struct Other {
    pub(crate) tokens: TokenStream,
    /// A marker on the item, which only methods may have, and the tokens that follow the item's attributes.
    pub(crate) marker: Option<(Path, TokenStream)>,
    /// Whether rustc reports the item, because it is not valid Rust.
    pub(crate) is_broken: bool,
}

/// A method of the block, without flow's attributes.
#[derive(Clone)]
pub(crate) struct Method {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) marker: Option<Marker>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    /// The argument of `#[from(…)]` on each parameter, in order.
    pub(crate) from: Vec<Option<TokenStream>>,
    pub(crate) body: TokenTree,
    /// Whether rustc reports a syntax error in the signature, of which only a part could be read.
    pub(crate) is_broken: bool,
}

/// `#[step(…)]` or `#[map(…)]`.
#[derive(Clone)]
pub(crate) struct Marker {
    pub(crate) path: Path,
    pub(crate) is_map: bool,
    pub(crate) options: Options,
    /// Further markers on the same method.
    pub(crate) doubled: Vec<Span>,
}

impl Method {
    /// Makes the method an `async fn`.
    pub(crate) fn make_async(&mut self) {
        self.sig.asyncness = Some(Token![async](self.sig.fn_token.span));
    }
}

impl ToTokens for Method {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, marker, vis, sig, body, .. } = self;
        // Clippy lints on a function's form would complain about the form that handlers must have. The user's own
        // attributes come later and override these.
        let allows = marker.is_some().then(|| {
            quote! {
                #[allow(
                    clippy::fn_params_excessive_bools,
                    clippy::needless_pass_by_value,
                    clippy::option_option,
                    clippy::too_many_arguments,
                    clippy::trivially_copy_pass_by_ref,
                    clippy::unnecessary_wraps,
                    clippy::unused_async,
                    clippy::unused_self
                )]
            }
        });
        tokens.extend(quote!(#allows #(#attrs)* #vis #sig #body));
    }
}

pub(super) fn parse_item(input: ParseStream<'_>, runtime: &RuntimePath, diag: &mut Diag) -> syn::Result<Item> {
    let mut attrs = input.call(Attribute::parse_outer)?;
    let marker = take_marker(&mut attrs, runtime, diag);
    let vis: Visibility = input.parse()?;
    let ahead = input.fork();
    if let Ok(mut sig) = ahead.parse::<Signature>()
        && (ahead.peek(token::Brace) || ahead.peek(Token![;]))
    {
        input.advance_to(&ahead);
        let body = input.parse()?;
        let from = sig.inputs.iter_mut().map(take_from).collect();
        return Ok(Item::Method(Box::new(Method { attrs, marker, vis, sig, from, body, is_broken: false })));
    }
    let (item, is_ended) = take_item(input)?;
    if let Some(mut sig) = broken::salvage(&item) {
        let from = sig.inputs.iter_mut().map(take_from).collect();
        let body = broken::body(&runtime.generated());
        return Ok(Item::Method(Box::new(Method { attrs, marker, vis, sig, from, body, is_broken: true })));
    }
    let mut tokens = TokenStream::new();
    tokens.append_all(&attrs);
    vis.to_tokens(&mut tokens);
    tokens.extend(item.clone());
    let is_broken = !is_ended || syn::parse2::<ImplItem>(tokens.clone()).is_err();
    if !is_ended || (is_broken && broken::is_method(&item)) {
        // Emitted again, the broken tokens would make rustc report the same error twice.
        tokens = TokenStream::new();
    }
    Ok(Item::Other(Other { tokens, marker: marker.map(|marker| (marker.path, item)), is_broken }))
}

/// Takes the tokens of one item, and tells whether the item is complete: it ends with `;`, or with a block where no `;` must follow.
///
/// An attribute begins the next item, also where this item has no end.
fn take_item(input: ParseStream<'_>) -> syn::Result<(TokenStream, bool)> {
    let mut tokens = TokenStream::new();
    let ends_at_semicolon = (input.peek(Token![const]) && !input.peek2(Token![fn])) || input.peek(Token![type]);
    while !input.is_empty() {
        if input.peek(Token![#]) && input.peek2(token::Bracket) {
            return Ok((tokens, false));
        }
        let is_block = input.peek(token::Brace);
        let is_semicolon = input.peek(Token![;]);
        tokens.append(input.parse::<TokenTree>()?);
        if is_semicolon || (is_block && !ends_at_semicolon) {
            return Ok((tokens, true));
        }
    }
    Ok((tokens, false))
}

fn take_marker(attrs: &mut Vec<Attribute>, runtime: &RuntimePath, diag: &mut Diag) -> Option<Marker> {
    let mut marker: Option<Marker> = None;
    attrs.retain(|attr| {
        let conditional = conditional_marker(attr, runtime);
        let meta = conditional.as_ref().unwrap_or(&attr.meta);
        let path = meta.path();
        let is_map = runtime.leads_to(path, "map");
        if !is_map && !runtime.leads_to(path, "step") {
            return true;
        }
        if conditional.is_some() {
            let text = "a marker cannot depend on a build flag: all programs of one flow have the same steps; write the \
                        marker by itself, and decide inside the handler, or in a condition";
            diag.at(attr, text);
        }
        match &mut marker {
            Some(first) => first.doubled.push(attr.pound_token.spans[0]),
            None => {
                let options = match meta {
                    Meta::List(list) => options::parse(list.tokens.clone(), diag),
                    Meta::Path(_) => Options::default(),
                    Meta::NameValue(meta) => {
                        diag.at(meta, "options stand in parentheses: `#[step(slug = \"…\")]`");
                        Options { has_unread: true, ..Options::default() }
                    }
                };
                marker = Some(Marker { path: path.clone(), is_map, options, doubled: Vec::new() });
            }
        }
        false
    });
    marker
}

/// The marker in `#[cfg_attr(…, step)]`.
fn conditional_marker(attr: &Attribute, runtime: &RuntimePath) -> Option<Meta> {
    let Meta::List(list) = &attr.meta else { return None };
    if !list.path.is_ident("cfg_attr") {
        return None;
    }
    let metas = Punctuated::<Meta, Token![,]>::parse_terminated.parse2(list.tokens.clone()).ok()?;
    let is_marker = |meta: &Meta| ["step", "map"].iter().any(|word| runtime.leads_to(meta.path(), word));
    metas.into_iter().skip(1).find(is_marker)
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
