//! Parses JSON in Rust tokens, for conditions.

use proc_macro2::Span;
use syn::{
    Ident, LitFloat, LitInt, LitStr, Token, braced, bracketed,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    token,
};

use crate::text::quoted;

/// A JSON value as it was written.
pub(crate) enum Json {
    /// `null`, `true`, `false` or a number, as JSON text.
    Scalar(String),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object, with the place of each key.
    Object(Vec<(LitStr, Json)>),
}

impl Json {
    /// The value as JSON text.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Scalar(text) => text.clone(),
            Self::Text(text) => quoted(text),
            Self::List(items) => format!("[{}]", items.iter().map(Self::to_text).collect::<Vec<_>>().join(",")),
            Self::Object(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(key, value)| format!("{}:{}", quoted(&key.value()), value.to_text())).collect();
                format!("{{{}}}", fields.join(","))
            }
        }
    }
}

impl Parse for Json {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(token::Brace) {
            parse_object(input)
        } else if input.peek(token::Bracket) {
            parse_list(input)
        } else if input.peek(LitStr) {
            let text: LitStr = input.parse()?;
            refuse_suffix(text.suffix(), text.span())?;
            refuse_nul(&text)?;
            Ok(Self::Text(text.value()))
        } else if input.peek(Token![-]) || input.peek(LitInt) || input.peek(LitFloat) {
            parse_number(input)
        } else {
            parse_word(input)
        }
    }
}

fn parse_object(input: ParseStream<'_>) -> syn::Result<Json> {
    let content;
    braced!(content in input);
    let mut fields: Vec<(LitStr, Json)> = Vec::new();
    while !content.is_empty() {
        if !content.peek(LitStr) {
            return Err(content.error("a key is a string, as in {\"gift\": true}"));
        }
        let key: LitStr = content.parse()?;
        refuse_suffix(key.suffix(), key.span())?;
        refuse_nul(&key)?;
        if fields.iter().any(|(known, _)| known.value() == key.value()) {
            return Err(syn::Error::new(key.span(), format!("the key {:?} occurs twice in this object", key.value())));
        }
        content.parse::<Token![:]>()?;
        fields.push((key, content.parse()?));
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    Ok(Json::Object(fields))
}

fn parse_list(input: ParseStream<'_>) -> syn::Result<Json> {
    let content;
    bracketed!(content in input);
    let items = content.parse_terminated(Json::parse, Token![,])?;
    Ok(Json::List(items.into_iter().collect()))
}

fn parse_number(input: ParseStream<'_>) -> syn::Result<Json> {
    let sign = if input.parse::<Option<Token![-]>>()?.is_some() { "-" } else { "" };
    let (written, suffix, span) = if input.peek(LitFloat) {
        let number: LitFloat = input.parse()?;
        (number.token().to_string(), number.suffix().to_owned(), number.span())
    } else {
        let number: LitInt = input.parse()?;
        (number.token().to_string(), number.suffix().to_owned(), number.span())
    };
    refuse_suffix(&suffix, span)?;
    let digits = written.replace('_', "");
    let is_plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.') && !digits.ends_with('.');
    if !is_plain {
        let text = "numbers in a condition are plain decimals, as in 5 or -1.25, without exponent or base";
        return Err(syn::Error::new(span, text));
    }
    let trimmed = digits.trim_start_matches('0');
    let whole = if trimmed.is_empty() || trimmed.starts_with('.') { format!("0{trimmed}") } else { trimmed.to_owned() };
    if !is_exact(sign, &whole) {
        return Err(syn::Error::new(span, "this number has more digits than JSON keeps: 64 bits whole, or 15 digits"));
    }
    Ok(Json::Scalar(format!("{sign}{whole}")))
}

/// Whether JSON can keep the number as it is written.
fn is_exact(sign: &str, digits: &str) -> bool {
    match digits.split_once('.') {
        None if sign.is_empty() => digits.parse::<u64>().is_ok(),
        None => format!("-{digits}").parse::<i64>().is_ok(),
        Some((whole, fraction)) => whole.trim_start_matches('0').len() + fraction.len() <= 15,
    }
}

fn parse_word(input: ParseStream<'_>) -> syn::Result<Json> {
    let expected = "a condition is JSON: a string, a number, true, false, null, a list or an object";
    let span = input.span();
    let word = input.call(Ident::parse_any).map_err(|_| syn::Error::new(span, expected))?.to_string();
    match word.as_str() {
        "true" | "false" | "null" => Ok(Json::Scalar(word)),
        _ => Err(syn::Error::new(span, expected)),
    }
}

fn refuse_suffix(suffix: &str, span: Span) -> syn::Result<()> {
    if suffix.is_empty() {
        return Ok(());
    }
    Err(syn::Error::new(span, format!("JSON knows no suffix; drop `{suffix}`")))
}

fn refuse_nul(text: &LitStr) -> syn::Result<()> {
    if text.value().contains('\0') {
        return Err(syn::Error::new(text.span(), "no stored text can contain the character U+0000"));
    }
    Ok(())
}
