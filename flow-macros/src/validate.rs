//! The rules of a flow, one function each; the functions report mistakes and emit no tokens.

mod absence;
mod block;
mod graph;
mod hints;
mod names;
mod options;
mod signatures;
mod sources;

use crate::{
    diag::Diag,
    model::{Flow, Step},
};

/// Reports every rule that the flow breaks.
pub(crate) fn check(flow: &Flow, diag: &mut Diag) {
    block::check(flow, diag);
    names::check(flow, diag);
    graph::check(flow, diag);
    options::check(flow, diag);
    absence::check(flow, diag);
    sources::check(flow, diag);
    signatures::check(flow, diag);
}

/// Calls `check` for each step, so that a mistake which is reported meanwhile counts as the step's.
fn each_step<'a>(flow: &'a Flow, diag: &mut Diag, mut rule: impl FnMut(&'a Step, &mut Diag)) {
    for (place, step) in flow.steps.iter().enumerate() {
        diag.enter_step(place);
        rule(step, diag);
    }
    diag.leave_steps();
}
