//! Parses what the user wrote: the block, its methods and their options, with spans and without judgement.

mod broken;
mod json;
mod methods;
mod options;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    Attribute, Generics, Token, Type, braced,
    parse::{ParseStream, Parser},
};

use crate::{diag::Diag, paths};

pub(crate) use json::Json;
pub(crate) use methods::{Item, Marker, Method, Other};
pub(crate) use options::{Form, Options, Written};

/// The `impl` block under `#[flow(…)]` with the flow's options.
pub(crate) struct Parsed {
    pub(crate) options: Options,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) generics: Generics,
    pub(crate) self_ty: Type,
    /// The tokens of the block's body, as they were written.
    pub(crate) body: TokenStream,
    /// `#![…]` inside the block.
    pub(crate) inner_attrs: Vec<Attribute>,
    pub(crate) items: Vec<Item>,
}

impl Parsed {
    /// The marked methods, in order of declaration.
    pub(crate) fn marked(&self) -> impl Iterator<Item = (&Method, &Marker)> {
        self.items.iter().filter_map(|item| match item {
            Item::Method(method) => Some((&**method, method.marker.as_ref()?)),
            Item::Other(_) => None,
        })
    }

    /// The unmarked methods, in order of declaration.
    pub(crate) fn unmarked(&self) -> impl Iterator<Item = &Method> {
        self.items.iter().filter_map(|item| match item {
            Item::Method(method) if method.marker.is_none() => Some(&**method),
            _ => None,
        })
    }

    /// Items that are no methods.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Other> {
        self.items.iter().filter_map(|item| match item {
            Item::Other(other) => Some(other),
            Item::Method(_) => None,
        })
    }

    /// Whether rustc reports a syntax error in the block, so that a step or its name may be missing.
    pub(crate) fn is_broken(&self) -> bool {
        self.items.iter().any(|item| match item {
            Item::Method(method) => method.is_broken,
            Item::Other(other) => other.is_broken,
        })
    }

    /// The user's block without flow's attributes.
    pub(crate) fn user_block(&self) -> TokenStream {
        self.user_block_with(ToTokens::to_token_stream)
    }

    /// The user's block without flow's attributes, with each method as `write` gives it.
    pub(crate) fn user_block_with(&self, write: impl Fn(&Method) -> TokenStream) -> TokenStream {
        let Self { attrs, generics, self_ty, inner_attrs, .. } = self;
        let where_clause = &generics.where_clause;
        let items = self.items.iter().map(|item| match item {
            Item::Method(method) => write(method),
            Item::Other(other) => other.tokens.clone(),
        });
        quote! {
            #(#attrs)*
            impl #generics #self_ty #where_clause { #(#inner_attrs)* #(#items)* }
        }
    }
}

/// Reads the attribute and the block. `None` when the item is no inherent `impl` block; the reason is reported.
pub(crate) fn parse(options: TokenStream, item: TokenStream, diag: &mut Diag) -> Option<Parsed> {
    let options = options::parse(options, diag);
    let misplaced =
        "`#[flow]` stands on an inherent `impl` block, whose methods are the handlers: `impl Checkout { … }`";
    let begin = item.clone().into_iter().take(2).collect::<TokenStream>();
    match (|input: ParseStream<'_>| parse_block(input, options, diag)).parse2(item) {
        Ok(Some(parsed)) => Some(parsed),
        Ok(None) => {
            diag.at(begin, misplaced);
            None
        }
        Err(error) => {
            diag.push(error);
            None
        }
    }
}

fn parse_block(input: ParseStream<'_>, options: Options, diag: &mut Diag) -> syn::Result<Option<Parsed>> {
    let mut attrs = input.call(Attribute::parse_outer)?;
    take_second_flow(&mut attrs, diag);
    if !input.peek(Token![impl]) {
        input.parse::<TokenStream>()?;
        return Ok(None);
    }
    input.parse::<Token![impl]>()?;
    let mut generics: Generics = if input.peek(Token![<]) { input.parse()? } else { Generics::default() };
    let self_ty: Type = input.parse()?;
    if input.peek(Token![for]) {
        input.parse::<TokenStream>()?;
        return Ok(None);
    }
    generics.where_clause = input.parse()?;
    let content;
    braced!(content in input);
    let body: TokenStream = content.fork().parse()?;
    let inner_attrs = content.call(Attribute::parse_inner)?;
    let runtime = paths::RuntimePath::new(options.path_of_crate());
    let mut items = Vec::new();
    while !content.is_empty() {
        items.push(methods::parse_item(&content, &runtime, diag)?);
    }
    Ok(Some(Parsed { options, attrs, generics, self_ty, body, inner_attrs, items }))
}

/// A second `#[flow]` would generate every name twice, so the second attribute is reported and removed.
fn take_second_flow(attrs: &mut Vec<Attribute>, diag: &mut Diag) {
    attrs.retain(|attr| {
        let is_flow = attr.path().segments.last().is_some_and(|last| last.ident == "flow");
        if is_flow {
            diag.at(attr, "this block has `#[flow]` twice; say all options in one");
        }
        !is_flow
    });
}
