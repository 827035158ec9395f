//! Types and docs as text for messages.

use quote::ToTokens;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// A type as its author would write it.
pub(crate) fn type_text(ty: &impl ToTokens) -> String {
    let mut text = ty.to_token_stream().to_string();
    let tidy = [
        (" < ", "<"),
        (" >", ">"),
        ("< ", "<"),
        (" :: ", "::"),
        (":: ", "::"),
        (" ,", ","),
        ("& ", "&"),
        (" ;", ";"),
        ("( ", "("),
        (" )", ")"),
    ];
    for (from, to) in tidy {
        text = text.replace(from, to);
    }
    text
}

/// The doc comment among `attrs`, without the leading space of its lines.
pub(crate) fn doc_text(attrs: &[Attribute]) -> Option<String> {
    let lines: Vec<String> = attrs.iter().filter_map(doc_line).collect();
    let text = lines.join("\n");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn doc_line(attr: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attr.meta else { return None };
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &meta.value else { return None };
    let line = text.value();
    meta.path.is_ident("doc").then(|| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned())
}
