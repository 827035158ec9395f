//! Reads what a handler returns.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericArgument, Path, PathArguments, ReturnType, Type};

use super::self_type::without_self;
use crate::text::plain;

/// A return type whose last name is `Result`, with `Self` spelled out.
pub(crate) struct Returned {
    /// The type as a whole.
    pub(crate) whole: Type,
    /// The type of success.
    pub(crate) output: Type,
    /// The type of failure, where the return type names one as its second argument and is not an alias from another module.
    pub(crate) error: Option<Type>,
}

/// Reads a return type; `None` when a handler may not have this type.
pub(super) fn read(output: &ReturnType, self_ty: &Type, generated: &TokenStream) -> Option<Returned> {
    let ReturnType::Type(_, ty) = output else { return None };
    let whole = without_self(plain(ty), self_ty);
    let Type::Path(path) = &whole else { return None };
    let types = arguments(&path.path)?;
    let (output, error) = match &types[..] {
        [output] => ((*output).clone(), None),
        [output, error] if !is_foreign(&path.path) => ((*output).clone(), Some((*error).clone())),
        // An alias of another module may have its parameters in another order, so the generated code lets rustc find the output type.
        [_, _, ..] if is_foreign(&path.path) => (projection(&whole, generated), None),
        _ => return None,
    };
    Some(Returned { whole, output, error })
}

/// The type arguments of a path that ends with `Result`.
fn arguments(path: &Path) -> Option<Vec<&Type>> {
    let last = path.segments.last().filter(|last| last.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(plain(ty)),
        _ => None,
    });
    Some(types.collect())
}

/// Whether the path leads to a module other than those of the standard library.
fn is_foreign(path: &Path) -> bool {
    let first = path.segments.first().filter(|_| path.segments.len() > 1);
    first.is_some_and(|first| first.ident != "std" && first.ident != "core" && first.ident != "result")
}

/// The type of success as a projection, which the compiler resolves.
fn projection(whole: &Type, generated: &TokenStream) -> Type {
    let tokens = quote!(<#whole as #generated::Outcome>::Output);
    syn::parse2(tokens).unwrap_or_else(|_| whole.clone())
}

/// Whether the type is a `Result` with more than two arguments, which rustc reports.
pub(crate) fn has_too_many_arguments(ty: &Type) -> bool {
    matches!(plain(ty), Type::Path(path) if arguments(&path.path).is_some_and(|types| types.len() > 2))
}

/// Whether the last name of the type is `Result`.
pub(crate) fn is_result(ty: &Type) -> bool {
    matches!(plain(ty), Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Result"))
}

/// Whether the type is written as a future: `impl Future`, `Pin<…>` or `BoxFuture`.
pub(crate) fn is_future(ty: &Type) -> bool {
    let words = ty.to_token_stream().to_string();
    matches!(plain(ty), Type::ImplTrait(_)) && words.contains("Future")
        || words.starts_with("Pin <")
        || words.contains(":: Pin <")
        || words.contains("BoxFuture")
}
