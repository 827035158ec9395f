//! Parses options as the user wrote them: `key`, `key = value`, `key(list)`.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::TokenStreamExt;
use syn::{
    Path, Token, Type,
    ext::IdentExt,
    parenthesized,
    parse::{ParseStream, Parser},
    token,
};

use crate::diag::Diag;

/// The options of one attribute as they were written.
#[derive(Clone, Default)]
pub(crate) struct Options {
    pub(crate) written: Vec<Written>,
    /// Whether a part was no option, which is reported. A required option that is missing may be that part.
    pub(crate) has_unread: bool,
}

impl Options {
    /// The value of `crate = …`, when the value is a path.
    pub(crate) fn path_of_crate(&self) -> Option<Path> {
        let option = self.written.iter().find(|option| option.key == "crate")?;
        let Form::Value(tokens) = &option.form else { return None };
        Path::parse_mod_style.parse2(tokens.clone()).ok()
    }
}

/// One option as it was written.
#[derive(Clone)]
pub(crate) struct Written {
    pub(crate) key: Ident,
    pub(crate) form: Form,
}

/// The form of what follows an option's key.
#[derive(Clone)]
pub(crate) enum Form {
    /// Nothing.
    Flag,
    /// `= value`; the value is kept as tokens.
    Value(TokenStream),
    /// `(list)`; the list is kept as tokens.
    List(TokenStream),
}

impl Written {
    /// The span at which a value that is wrong as a whole is reported.
    pub(crate) fn value_span(&self) -> Span {
        match &self.form {
            Form::Value(tokens) | Form::List(tokens) if !tokens.is_empty() => {
                syn::Error::new_spanned(tokens, "").span()
            }
            _ => self.key.span(),
        }
    }
}

/// Reads a list of options; a part that is no option is reported and skipped.
pub(super) fn parse(tokens: TokenStream, diag: &mut Diag) -> Options {
    let read = |input: ParseStream<'_>| {
        let mut options = Options::default();
        while !input.is_empty() {
            match parse_option(input) {
                Ok(option) => options.written.push(option),
                Err(error) => {
                    options.has_unread = true;
                    diag.push(error);
                    take_value(input)?;
                }
            }
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(options)
    };
    read.parse2(tokens).unwrap_or_default()
}

fn parse_option(input: ParseStream<'_>) -> syn::Result<Written> {
    let begin = input.fork();
    let key = input
        .call(Ident::parse_any)
        .map_err(|error| syn::Error::new(error.span(), "an option begins with its name, as in `max_attempts = 5`"))?;
    let form = if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        Form::Value(take_value(input)?)
    } else if input.peek(token::Paren) {
        let content;
        parenthesized!(content in input);
        Form::List(content.parse()?)
    } else {
        Form::Flag
    };
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(Written { key, form });
    }
    Err(not_an_option(&begin, input, &key))
}

/// Makes the error for the text at `begin` that is no option; parsing stopped at `input`.
fn not_an_option(begin: ParseStream<'_>, input: ParseStream<'_>, key: &Ident) -> syn::Error {
    if input.peek(Token![:]) && !input.peek(Token![::]) {
        return input.error(format!("an option has `=` before its value; write `{key} = …`"));
    }
    if begin.parse::<Type>().is_ok() && (begin.is_empty() || begin.peek(Token![,])) {
        return syn::Error::new(key.span(), "a type stands behind its option's name; write `input = …` on `#[flow]`");
    }
    if input.peek(Token![;]) {
        return input.error("options are separated by `,`");
    }
    input.error("expected `,` and the next option")
}

/// Takes tokens up to the next comma outside angle brackets.
fn take_value(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut value = TokenStream::new();
    let mut depth = 0_usize;
    let mut last = ' ';
    while !input.is_empty() && (depth > 0 || !input.peek(Token![,])) {
        let token: TokenTree = input.parse()?;
        let mark = if let TokenTree::Punct(punct) = &token { punct.as_char() } else { ' ' };
        match mark {
            '<' => depth += 1,
            '>' if last != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        last = mark;
        value.append(token);
    }
    Ok(value)
}
