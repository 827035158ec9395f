//! The rules of a flow, one function each; they report and emit nothing.

mod absence;
mod graph;
mod names;
mod options;
mod signatures;

use crate::{diag::Diag, model::Flow};

/// Reports every rule that the flow breaks.
pub(crate) fn check(flow: &Flow, diag: &mut Diag) {
    names::check(flow, diag);
    graph::check(flow, diag);
    options::check(flow, diag);
    absence::check(flow, diag);
    signatures::check(flow, diag);
}
