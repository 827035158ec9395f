//! What was written: the block, its methods and their options, with spans and without judgement.

mod json;
mod methods;
mod options;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    Attribute, Generics, Token, Type, braced,
    parse::{ParseStream, Parser},
};

use crate::diag::Diag;

pub(crate) use json::Json;
pub(crate) use methods::{Item, Marker, Method};
pub(crate) use options::{Form, Written};

/// The `impl` block under `#[flow(…)]` with the flow's options.
pub(crate) struct Parsed {
    pub(crate) options: Vec<Written>,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) generics: Generics,
    pub(crate) self_ty: Type,
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

    /// Whether rustc has a syntax error to report in a marked item.
    pub(crate) fn has_broken_step(&self) -> bool {
        self.items.iter().any(|item| matches!(item, Item::Other(other) if other.is_marked))
    }

    /// The user's block without our attributes.
    pub(crate) fn user_block(&self) -> TokenStream {
        let Self { attrs, generics, self_ty, items, .. } = self;
        let where_clause = &generics.where_clause;
        quote! {
            #(#attrs)*
            impl #generics #self_ty #where_clause { #(#items)* }
        }
    }
}

/// Reads the attribute and the block. `None` when it is no inherent `impl` block; the reason is reported.
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

fn parse_block(input: ParseStream<'_>, options: Vec<Written>, diag: &mut Diag) -> syn::Result<Option<Parsed>> {
    let attrs = input.call(Attribute::parse_outer)?;
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
    let mut items = Vec::new();
    while !content.is_empty() {
        items.push(methods::parse_item(&content, diag)?);
    }
    Ok(Some(Parsed { options, attrs, generics, self_ty, items }))
}

impl ToTokens for Item {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Method(method) => method.to_tokens(tokens),
            Self::Other(other) => other.tokens.to_tokens(tokens),
        }
    }
}
