//! What each parameter of a handler means.

use proc_macro2::{Ident, TokenStream};
use syn::{FnArg, Pat, Type, ext::IdentExt, parse::Parser};

use super::self_type::without_self;
use crate::{diag::Diag, parse::Method, text::plain};

/// One parameter of a handler, without `self`.
pub(crate) struct Param {
    /// The parameter's name; for a pattern, the name of the step whose output the parameter takes.
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    pub(crate) role: ParamRole,
}

impl Param {
    /// The parameter's name in errors at run time.
    pub(crate) fn text(&self) -> String {
        self.name.unraw().to_string()
    }
}

/// What a parameter receives.
pub(crate) enum ParamRole {
    /// The run's input.
    Input,
    /// The map's element.
    Item,
    /// The context.
    Context,
    /// A step's output.
    Output(Reference),
}

/// A step named by its method.
pub(crate) struct Reference {
    pub(crate) name: Ident,
    /// The step's place in order of declaration; `None` when no step has this name.
    pub(crate) target: Option<usize>,
}

impl Reference {
    pub(super) fn resolve(name: Ident, steps: &[&Ident]) -> Self {
        let target = steps.iter().position(|step| step.unraw() == name.unraw());
        Self { name, target }
    }
}

pub(super) fn build(method: &Method, steps: &[&Ident], self_ty: &Type, diag: &mut Diag) -> Vec<Param> {
    method
        .sig
        .inputs
        .iter()
        .zip(&method.from)
        .filter_map(|(arg, from)| match arg {
            FnArg::Typed(param) => {
                build_one(&param.pat, without_self(plain(&param.ty), self_ty), from.as_ref(), steps, diag)
            }
            FnArg::Receiver(_) => None,
        })
        .collect()
}

fn build_one(pat: &Pat, ty: Type, from: Option<&TokenStream>, steps: &[&Ident], diag: &mut Diag) -> Option<Param> {
    if let Some(from) = from {
        let Ok(step) = Ident::parse_any.parse2(from.clone()) else {
            diag.at(pat, "`#[from(…)]` takes the name of one step, as in `#[from(reserve)]`");
            return None;
        };
        let name = simple_name(pat).unwrap_or_else(|| step.clone());
        return Some(Param { name, ty, role: ParamRole::Output(Reference::resolve(step, steps)) });
    }
    let Some(name) = simple_name(pat) else {
        diag.at(pat, "a parameter is named like the step it takes; say which with `#[from(step)]` before a pattern");
        return None;
    };
    // Also under another name, which is reported.
    let is_context = is_context_type(&ty);
    let role = match name.unraw().to_string().as_str() {
        "input" => ParamRole::Input,
        "item" => ParamRole::Item,
        "ctx" => ParamRole::Context,
        _ if is_context => ParamRole::Context,
        _ => ParamRole::Output(Reference::resolve(name.clone(), steps)),
    };
    Some(Param { name, ty, role })
}

fn simple_name(pat: &Pat) -> Option<Ident> {
    match pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(pat.ident.clone()),
        _ => None,
    }
}

/// Whether the type is written `&StepContext`.
fn is_context_type(ty: &Type) -> bool {
    let Type::Reference(reference) = ty else { return false };
    let Type::Path(path) = plain(&reference.elem) else { return false };
    reference.mutability.is_none() && path.path.segments.last().is_some_and(|last| last.ident == "StepContext")
}
