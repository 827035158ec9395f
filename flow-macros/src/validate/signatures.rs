//! Checks that the engine can call a handler with this signature.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, FnArg, Receiver, ReceiverKind, ReturnType, Safety, Type};

use super::each_step;
use crate::{
    diag::Diag,
    model::{
        Flow, Param, ParamRole, Returned, Step, has_too_many_arguments, holds_borrow, holds_placeholder, is_result,
    },
    text::{last_word, plain, type_text},
};

pub(super) fn check(flow: &Flow, diag: &mut Diag) {
    each_step(flow, diag, |step, diag| {
        check_markers(step, diag);
        check_attributes(step, diag);
        // A signature with a syntax error is left out: rustc reports the error, and only a part of the signature could be read.
        if !step.is_broken {
            check_asyncness(step, diag);
            check_receiver(step, diag);
            check_generics(step, diag);
            check_return(flow, step, diag);
            for param in &step.params {
                check_param(flow, step, param, diag);
            }
        }
    });
}

fn check_markers(step: &Step, diag: &mut Diag) {
    for span in &step.doubled_markers {
        diag.at_span(*span, format!("method `{}` is marked twice; mark it once", step.method_name()));
    }
}

/// Refuses `cfg` on steps and parameters: the shape must not depend on how the program was built.
fn check_attributes(step: &Step, diag: &mut Diag) {
    for attr in step.attrs.iter().filter(|attr| is_of_build(attr)) {
        let text = format!(
            "step `{}` cannot depend on a build flag: all programs of one flow have the same steps; decide inside the \
             handler, or in a condition",
            step.method_name()
        );
        diag.at(attr, text);
    }
    for attr in step.sig.inputs.iter().flat_map(attributes_of).filter(|attr| is_of_build(attr)) {
        let text = format!(
            "a parameter of step `{}` cannot depend on a build flag: all programs of one flow have the same steps; take \
             it always",
            step.method_name()
        );
        diag.at(attr, text);
    }
}

/// Whether the attribute can remove what it stands on, as `cfg` does; `#[cfg_attr(test, allow(…))]` cannot.
fn is_of_build(attr: &Attribute) -> bool {
    attr.path().is_ident("cfg") || (attr.path().is_ident("cfg_attr") && holds_cfg(attr.meta.to_token_stream()))
}

fn holds_cfg(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "cfg",
        TokenTree::Group(group) => holds_cfg(group.stream()),
        _ => false,
    })
}

fn attributes_of(arg: &FnArg) -> &[Attribute] {
    match arg {
        FnArg::Receiver(receiver) => &receiver.attrs,
        FnArg::Typed(param) => &param.attrs,
    }
}

fn check_asyncness(step: &Step, diag: &mut Diag) {
    match (step.sig.asyncness, step.blocking) {
        // `check_return` reports a return type that is written as a future.
        (None, None) if step.has_written_future() => {}
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
    if let Safety::Unsafe(unsafety) = &step.sig.safety {
        diag.at(unsafety, "a step is no `unsafe fn`, since the engine calls it; drop `unsafe`");
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

fn check_return(flow: &Flow, step: &Step, diag: &mut Diag) {
    let name = step.method_name();
    if let Some(returned) = &step.returned {
        return check_returned(flow, step, returned, diag);
    }
    match &step.sig.output {
        ReturnType::Type(_, ty) if has_too_many_arguments(ty) => {}
        ReturnType::Type(_, ty) if is_result(ty) => {
            let text =
                format!("step `{name}` says the type of its output, as in `Result<T, E>` or `anyhow::Result<T>`");
            diag.at(ty, text);
        }
        ReturnType::Type(_, ty) if step.has_written_future() => {
            let text = format!(
                "step `{name}` returns a future that is written out; write `async fn {name}(…) -> Result<T, E>`"
            );
            diag.at(ty, text);
        }
        ReturnType::Type(_, ty) => {
            let hint = if may_be_alias(ty) { "; if this is an alias of `Result`, call it `Result`" } else { "" };
            let text = format!("step `{name}` returns `Result<T, E>`, not `{}`{hint}", type_text(plain(ty)));
            diag.at(ty, text);
        }
        ReturnType::Default => {
            let text =
                format!("step `{name}` returns nothing; it returns `Result<T, E>`, as in `Result<(), StepError>`");
            diag.at(&step.method, text);
        }
    }
}

/// Whether the type has arguments and is not well known, as an alias of `Result` may be.
fn may_be_alias(ty: &Type) -> bool {
    const KNOWN: [&str; 8] = ["Arc", "Box", "HashMap", "Option", "Pin", "Poll", "Rc", "Vec"];
    let Type::Path(path) = plain(ty) else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    !last.arguments.is_none() && !KNOWN.iter().any(|known| last.ident == known)
}

fn check_returned(flow: &Flow, step: &Step, returned: &Returned, diag: &mut Diag) {
    let name = step.method_name();
    if last_word(&returned.output).is_some_and(|word| word == "StepError")
        && let Some(error) = &returned.error
    {
        let text = format!(
            "step `{name}` returns its output first and its error second; write `Result<{}, {}>`",
            type_text(error),
            type_text(&returned.output)
        );
        return diag.at(&returned.whole, text);
    }
    check_written_out(flow, &returned.output, &format!("the output of step `{name}`"), diag);
}

fn check_param(flow: &Flow, step: &Step, param: &Param, diag: &mut Diag) {
    match &param.role {
        // Whether the type is the context under another name is left to the compiler.
        ParamRole::Context if param.name == "ctx" && is_shared_reference(&param.ty) => {}
        ParamRole::Context if param.name == "ctx" => {
            diag.at(
                &param.ty,
                format!("`ctx` is the context; its type is `&StepContext`, not `{}`", type_text(&param.ty)),
            );
        }
        ParamRole::Context => {
            diag.at(&param.name, "the context is the parameter `ctx: &StepContext`; name it `ctx`");
        }
        ParamRole::Item if !step.is_map && step.doubled_markers.is_empty() => {
            diag.at(&param.name, "`item` is the element of a map; use `#[map(over = …)]`, or name a step or `input`");
        }
        // A parameter that names no step is reported by its name (validate/graph.rs).
        ParamRole::Output(reference) if reference.target.is_none() => {}
        _ if matches!(param.ty, Type::Reference(_)) => check_owned(&param.ty, diag),
        _ => check_written_out(flow, &param.ty, "a handler's parameter", diag),
    }
}

fn is_shared_reference(ty: &Type) -> bool {
    matches!(ty, Type::Reference(reference) if reference.mutability.is_none() && matches!(plain(&reference.elem), Type::Path(_)))
}

/// Reports an argument that is a reference: a handler owns its arguments.
fn check_owned(ty: &Type, diag: &mut Diag) {
    let Type::Reference(reference) = ty else { return };
    let owned = match &*reference.elem {
        Type::Slice(slice) => format!("Vec<{}>", type_text(&slice.elem)),
        Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
        elem => type_text(elem),
    };
    diag.at(ty, format!("a handler owns its arguments; take `{owned}`, not a reference"));
}

/// Checks that the type of `what` can be named outside the method: concrete and owned.
pub(super) fn check_written_out(flow: &Flow, ty: &Type, what: &str, diag: &mut Diag) {
    if let Some(parameter) = flow.type_parameter_in(ty) {
        let kind = if flow.generics.const_params().any(|known| known.ident == parameter) { "const" } else { "type" };
        let text = format!(
            "{what} has a type that is written out, not the {kind} parameter `{parameter}`: a flow has one shape; use \
             {kind} parameters in bodies only"
        );
        diag.at(parameter, text);
    } else if let Some(word) = holds_placeholder(ty) {
        let found = if word == "impl" { "`impl Trait`".to_owned() } else { format!("`{word}`") };
        diag.at(ty, format!("{what} has a type that is written out, not {found}"));
    } else if holds_borrow(ty.to_token_stream()) {
        diag.at(
            ty,
            format!("{what} is read from JSON, so its type owns what it holds; drop the reference or lifetime"),
        );
    }
}
