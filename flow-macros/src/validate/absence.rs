//! Checks that the output of a step that may be skipped, and of no other step, is taken as `Option`, as far as the written types tell.
//!
//! A type behind an alias is left to the compiler, through the trait of each step's output.

use syn::{GenericArgument, PathArguments, Type};

use super::each_step;
use crate::{
    diag::Diag,
    model::{Flow, Step},
    text::type_text,
};

pub(super) fn check(flow: &Flow, diag: &mut Diag) {
    each_step(flow, diag, |step, diag| {
        for (param, reference) in step.needs() {
            if let Some(declared) = reference.target {
                check_needless(&flow.steps[declared], &param.ty, diag);
            }
        }
    });
}

fn check_needless(taken: &Step, ty: &Type, diag: &mut Diag) {
    let (Some(inner), Some(written)) = (inside_option(ty), taken.written_output()) else { return };
    if taken.absence().is_none() && type_text(inner) == written {
        let name = taken.method_name();
        let why = taken.modes().cascades().map_or_else(
            || format!("step `{name}` is never skipped"),
            |cause| format!("step `{name}` has `{}`, so this step is skipped with it", cause.describe()),
        );
        diag.at(ty, format!("{why}: its output is taken as `{written}`, not `Option<{written}>`"));
    }
}

/// The type `T` when the type is written `Option<T>`.
fn inside_option(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}
