//! Checks that the methods of the block can be handlers, and that every marker in the block marks a method.

use proc_macro2::Span;

use super::signatures::check_written_out;
use crate::{diag::Diag, model::Flow, text::type_text};

pub(super) fn check(flow: &Flow, diag: &mut Diag) {
    check_owned(flow, diag);
    check_single(flow, diag);
    if let Some(input) = &flow.input {
        check_written_out(flow, input, "the input of a flow", diag);
    }
    for (marker, item) in &flow.misplaced_markers {
        let word = marker.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        diag.at(item, format!("`#[{word}]` marks a method, and this is none; mark the handler instead"));
    }
    if flow.steps.is_empty() && !flow.is_broken && flow.misplaced_markers.is_empty() {
        report_no_step(flow, diag);
    }
}

/// Checks that the flow owns what it holds, because handlers outlive every borrow.
fn check_owned(flow: &Flow, diag: &mut Diag) {
    let text = "a flow owns what its handlers need, since they outlive every borrow; put an `Arc` or a `String` in place \
                of the reference";
    if let Some(lifetime) = flow.generics.lifetimes().next() {
        diag.at(lifetime, text);
    } else if flow.is_borrowing() {
        diag.at(&flow.self_ty, text);
    }
}

/// Checks that a type has one flow, and that two flows generate different names.
fn check_single(flow: &Flow, diag: &mut Diag) {
    let Some(earlier) = &flow.earlier_block else { return };
    let this = type_text(&flow.self_ty);
    let text = if *earlier == this {
        format!("`{this}` has a block under `#[flow]` already; move the steps of both into one block")
    } else {
        format!(
            "the flows of `{earlier}` and `{this}` give the same names, as `{}`; say `names = …` on `#[flow]`",
            flow.step_enum.name
        )
    };
    diag.at(&flow.self_ty, text);
}

fn report_no_step(flow: &Flow, diag: &mut Diag) {
    match flow.unknown_attrs.first() {
        Some(path) => {
            let attr = type_text(path);
            let text = format!(
                "a flow has at least one step, and `#[{attr}]` marks none: inside `#[flow]` the markers are `#[step]` and \
                 `#[map(over = …)]` by these names, which need no import"
            );
            diag.at(path, text);
        }
        None => {
            let text = "a flow has at least one step; mark a method with `#[step]` or `#[map(over = …)]`";
            diag.at_span(Span::call_site(), text);
        }
    }
}
