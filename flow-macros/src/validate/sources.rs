//! Checks that the source of a map is a list, as far as the written types tell.
//!
//! A type behind an alias is left to the compiler, through the trait of lists.

use syn::Type;

use super::each_step;
use crate::{
    diag::Diag,
    model::{Flow, MapSource},
    text::{last_word, type_text},
};

pub(super) fn check(flow: &Flow, diag: &mut Diag) {
    each_step(flow, diag, |step, diag| {
        let (over, ty) = match &step.source {
            Some(MapSource::Input(over)) => (over, flow.input.as_ref()),
            Some(MapSource::Step(reference)) => {
                let source = reference.target.map(|declared| &flow.steps[declared]).filter(|source| !source.is_map);
                (&reference.name, source.and_then(|source| source.output()))
            }
            None => return,
        };
        if let Some((ty, hint)) = ty.and_then(|ty| Some((ty, describe(ty)?))) {
            diag.at(over, format!("a map needs a list to run over, and `{}` is none; {hint}", type_text(ty)));
        }
    });
}

/// The advice for a type that is certainly no list.
fn describe(ty: &Type) -> Option<&'static str> {
    Some(match (ty, last_word(ty)?.as_str()) {
        (Type::Path(_), "Option") => {
            "return an empty list where there is nothing to run over, or let the step be skipped with `when_exhausted = skip`"
        }
        (Type::Path(_), "HashMap" | "BTreeMap" | "IndexMap") => {
            "make a step that returns its entries as a list, as in `Vec<(String, u32)>`, and name that step"
        }
        (Type::Path(_), "String" | "str") => {
            "make a step that returns its parts as a list, as in `Vec<String>`, and name that step"
        }
        (
            Type::Path(_),
            "bool" | "char" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128"
            | "isize" | "f32" | "f64",
        ) => "make a step that returns a list of numbers, as in `(0..input).collect()`, and name that step",
        _ => return None,
    })
}
