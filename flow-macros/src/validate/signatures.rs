//! A handler's signature is one that the engine can call.

use syn::{FnArg, Receiver, ReceiverKind, Type};

use crate::{
    diag::Diag,
    model::{Flow, Param, Role, Step},
    text::type_text,
};

pub(super) fn check(flow: &Flow, diag: &mut Diag) {
    for step in &flow.steps {
        check_markers(step, diag);
        check_asyncness(step, diag);
        check_receiver(step, diag);
        check_generics(step, diag);
        check_return(step, diag);
        for param in &step.params {
            check_param(step, param, diag);
        }
    }
}

fn check_markers(step: &Step, diag: &mut Diag) {
    for span in &step.doubled_markers {
        diag.at_span(*span, format!("method `{}` is marked twice; mark it once", step.method_name()));
    }
}

fn check_asyncness(step: &Step, diag: &mut Diag) {
    match (step.sig.asyncness, step.blocking) {
        (None, None) => diag.at(
            step.sig.fn_token,
            format!("step `{}` is no `async fn`; make it one, or mark it `blocking`", step.method_name()),
        ),
        (Some(asyncness), Some(_)) => diag.at(
            asyncness,
            format!("step `{}` is `blocking`, so it is a plain `fn`; drop `async` or `blocking`", step.method_name()),
        ),
        _ => {}
    }
    if let Some(constness) = step.sig.constness {
        diag.at(constness, "a step is no `const fn`; drop `const`");
    }
}

fn check_receiver(step: &Step, diag: &mut Diag) {
    let by_reference = "a step takes `&self`; what it changes lies behind a lock or in the database";
    match step.sig.inputs.first() {
        Some(FnArg::Receiver(Receiver { kind: ReceiverKind::Reference(_, _, None), .. })) => {}
        Some(FnArg::Receiver(receiver)) => diag.at(receiver, by_reference),
        _ => diag.at(&step.method, format!("step `{}` has no `&self`; it is a method of the flow", step.method_name())),
    }
}

fn check_generics(step: &Step, diag: &mut Diag) {
    let generics = &step.sig.generics;
    if !generics.params.is_empty() {
        let text = "a step has no type parameters or lifetimes of its own; put type parameters on the `impl` block";
        diag.at(&generics.params, text);
    }
    if let Some(clause) = &generics.where_clause {
        diag.at(clause, "a step has no `where` clause of its own; put it on the `impl` block");
    }
}

fn check_return(step: &Step, diag: &mut Diag) {
    if step.output.is_some() {
        return;
    }
    let name = step.method_name();
    match &step.sig.output {
        syn::ReturnType::Type(_, ty) => {
            let text = format!("step `{name}` returns `Result<T, E>`, not `{}`", type_text(ty));
            diag.at(ty, text);
        }
        syn::ReturnType::Default => {
            let text =
                format!("step `{name}` returns nothing; it returns `Result<T, E>`, as in `Result<(), StepError>`");
            diag.at(&step.method, text);
        }
    }
}

fn check_param(step: &Step, param: &Param, diag: &mut Diag) {
    let is_context = is_context_type(&param.ty);
    match &param.role {
        Role::Context if !is_context => {
            diag.at(&param.ty, "`ctx` is the context; its type is `&StepContext`");
        }
        Role::Context => {}
        _ if is_context => diag.at(&param.name, "the context is the parameter `ctx: &StepContext`; name it `ctx`"),
        Role::Item if !step.is_map => {
            diag.at(&param.name, "`item` is the element of a map; use `#[map(over = …)]`, or name a step or `input`");
        }
        _ => check_owned(&param.ty, diag),
    }
}

/// A handler owns its arguments, whose types are written out.
fn check_owned(ty: &Type, diag: &mut Diag) {
    match ty {
        Type::Reference(reference) => {
            let owned = match &*reference.elem {
                Type::Slice(slice) => format!("Vec<{}>", type_text(&slice.elem)),
                Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
                elem => type_text(elem),
            };
            diag.at(ty, format!("a handler owns its arguments; take `{owned}`, not a reference"));
        }
        Type::ImplTrait(_) => diag.at(ty, "a handler's parameter has a type that is written out, not `impl Trait`"),
        Type::Infer(_) => diag.at(ty, "a handler's parameter has a type that is written out, not `_`"),
        _ => {}
    }
}

fn is_context_type(ty: &Type) -> bool {
    let Type::Reference(reference) = ty else { return false };
    let Type::Path(path) = &*reference.elem else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "StepContext")
}
