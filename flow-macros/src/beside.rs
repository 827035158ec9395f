//! Reads what stands beside the block in its source file, so that a name which is taken is one error instead of twenty from rustc.
//!
//! What is read only improves error texts: nothing is generated from it. Where the file cannot be read, rustc reports the doubled names.

use std::fs;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;

use crate::text::{last_word, type_text};

/// What a block has beside it.
#[derive(Default)]
pub(crate) struct Beside {
    /// The type of an earlier `#[flow]` block whose generated names would be the same.
    pub(crate) earlier_block: Option<String>,
    /// The names of types that the user defined.
    pub(crate) types: Vec<String>,
}

/// An item of the scope: its `#[flow]` options and its tokens.
struct Neighbour<'a> {
    /// The options of a `#[flow(…)]` on the item.
    flow: Option<TokenStream>,
    has_cfg: bool,
    /// The tokens of the item after its attributes.
    tokens: &'a [TokenTree],
}

impl Beside {
    /// Reads the items beside the block that lies at `at` and has this body. `names` is what the flow's generated names begin with.
    pub(crate) fn read(names: &Ident, at: Span, body: &TokenStream) -> Self {
        let Some(text) = source_of(at) else { return Self::default() };
        let is_of_interest = text.matches("flow(").count() > 1
            || ["Step", "Output"].iter().any(|end| text.contains(&format!(" {names}{end}")));
        if !is_of_interest {
            return Self::default();
        }
        let Ok(file) = text.parse::<TokenStream>() else { return Self::default() };
        find_scope(file, &flat(body.clone())).map(|scope| look_at(&scope, names, body)).unwrap_or_default()
    }
}

/// The text of the file in which `span` lies; `None` in code that a macro made, and outside the compiler.
fn source_of(span: Span) -> Option<String> {
    if !proc_macro::is_available() {
        return None;
    }
    fs::read_to_string(span.unwrap().local_file()?).ok()
}

/// The tokens of the scope that directly contains a block with this body.
fn find_scope(tokens: TokenStream, body: &[String]) -> Option<Vec<TokenTree>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for token in &tokens {
        if let TokenTree::Group(group) = token
            && group.delimiter() == Delimiter::Brace
        {
            if flat(group.stream()) == body {
                return Some(tokens);
            }
            if let Some(scope) = find_scope(group.stream(), body) {
                return Some(scope);
            }
        }
    }
    None
}

fn look_at(scope: &[TokenTree], names: &Ident, body: &TokenStream) -> Beside {
    let body = flat(body.clone());
    let mut beside = Beside::default();
    let mut is_before = true;
    for item in neighbours(scope) {
        let is_this = matches!(item.tokens.last(), Some(TokenTree::Group(group)) if flat(group.stream()) == body);
        if let Some(options) = &item.flow {
            is_before &= !is_this;
            let other = block_type(item.tokens);
            let gives_names = names_in(options).or_else(|| other.as_ref().and_then(last_word));
            if is_before && !item.has_cfg && gives_names.is_some_and(|given| names == &given) {
                beside.earlier_block = other.map(|other| type_text(&other));
            }
        } else if let Some(name) = type_name(item.tokens)
            && !item.has_cfg
        {
            beside.types.push(name);
        }
    }
    beside
}

/// The items of a scope.
fn neighbours(scope: &[TokenTree]) -> impl Iterator<Item = Neighbour<'_>> {
    let mut rest = scope;
    std::iter::from_fn(move || {
        let mut item = Neighbour { flow: None, has_cfg: false, tokens: &[] };
        while let [TokenTree::Punct(pound), TokenTree::Group(attr), behind @ ..] = rest
            && pound.as_char() == '#'
        {
            read_attribute(attr.stream(), &mut item);
            rest = behind;
        }
        let is_end = |token: &TokenTree| {
            matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';')
                || matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
        };
        let length = rest.iter().position(is_end).map_or(rest.len(), |end| end + 1);
        (item.tokens, rest) = rest.split_at(length);
        (length > 0).then_some(item)
    })
}

fn read_attribute(attr: TokenStream, item: &mut Neighbour<'_>) {
    let tokens: Vec<TokenTree> = attr.into_iter().collect();
    match &tokens[..] {
        [TokenTree::Ident(word), ..] if word == "cfg" => item.has_cfg = true,
        [.., TokenTree::Ident(word), TokenTree::Group(options)] if word == "flow" => item.flow = Some(options.stream()),
        _ => {}
    }
}

/// The type of an `impl` block.
fn block_type(item: &[TokenTree]) -> Option<Type> {
    let tokens: TokenStream = item.iter().cloned().collect();
    syn::parse2::<syn::ItemImpl>(tokens).ok().map(|block| *block.self_ty)
}

/// The value of `names = …`.
fn names_in(options: &TokenStream) -> Option<String> {
    let words = flat(options.clone());
    let place = words.windows(2).position(|pair| pair[0] == "names" && pair[1] == "=")?;
    words.get(place + 2).cloned()
}

/// The name of the type that an item defines.
fn type_name(item: &[TokenTree]) -> Option<String> {
    const KINDS: [&str; 5] = ["enum", "struct", "trait", "type", "union"];
    let place = item
        .iter()
        .position(|token| matches!(token, TokenTree::Ident(word) if KINDS.iter().any(|kind| word == kind)))?;
    let is_item =
        item[..place].iter().all(|token| !matches!(token, TokenTree::Ident(word) if word == "impl" || word == "fn"));
    match item.get(place + 1) {
        Some(TokenTree::Ident(name)) if is_item => Some(name.to_string()),
        _ => None,
    }
}

/// The tokens as texts, one after the other, with groups opened.
fn flat(tokens: TokenStream) -> Vec<String> {
    let mut words = Vec::new();
    flatten(tokens, &mut words);
    words
}

fn flatten(tokens: TokenStream, words: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                words.push(format!("{:?}", group.delimiter()));
                flatten(group.stream(), words);
            }
            other => words.push(other.to_token_stream().to_string()),
        }
    }
}
