//! Writes types, doc comments and JSON as text.

use quote::ToTokens;
use syn::{Attribute, Expr, ExprLit, GenericArgument, Lit, Meta, PathArguments, Type, ext::IdentExt};

/// The type without parentheses, and without the group in which `macro_rules!` hands over a type.
pub(crate) fn plain(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => plain(&group.elem),
        Type::Paren(paren) => plain(&paren.elem),
        ty => ty,
    }
}

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

/// The last word of a path, without its arguments.
pub(crate) fn last_word(ty: &Type) -> Option<String> {
    match plain(ty) {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.unraw().to_string()),
        _ => None,
    }
}

/// The type of the elements of a type that is written as a list.
pub(crate) fn element_of(list: &Type) -> Option<Type> {
    match plain(list) {
        Type::Array(array) => Some((*array.elem).clone()),
        Type::Slice(slice) => Some((*slice.elem).clone()),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let first = first_argument(&last.arguments)?;
            match last.ident.to_string().as_str() {
                "Vec" | "VecDeque" | "BTreeSet" | "HashSet" => Some(first),
                "Box" => element_of(&first),
                _ => None,
            }
        }
        _ => None,
    }
}

fn first_argument(arguments: &PathArguments) -> Option<Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    })
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

/// A JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c < ' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
