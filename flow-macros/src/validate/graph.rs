//! Checks that every reference to a step finds a step, that a step is referenced once, and that no step waits for itself.

use std::collections::HashSet;

use flow_core::order::Cycle;
use syn::ext::IdentExt;

use super::{each_step, hints};
use crate::{
    diag::Diag,
    model::{Flow, MapSource, Reference, Step},
};

pub(super) fn check(flow: &Flow, diag: &mut Diag) {
    each_step(flow, diag, |step, diag| {
        if !flow.is_broken {
            check_known(flow, step, diag);
        }
        check_once(step, diag);
        check_source(step, diag);
    });
    for cycle in &flow.cycles {
        report_cycle(flow, cycle, diag);
    }
}

fn check_known(flow: &Flow, step: &Step, diag: &mut Diag) {
    for reference in step.references().filter(|reference| reference.target.is_none()) {
        let param = step.needs().find(|(_, taken)| std::ptr::eq(*taken, reference)).map(|(param, _)| param);
        diag.at(&reference.name, hints::describe_unknown(flow, step, reference, param));
    }
}

fn check_once(step: &Step, diag: &mut Diag) {
    let mut seen = HashSet::new();
    for reference in step.references() {
        if reference.target.is_some() && !seen.insert(reference.target) {
            report_twice(step, reference, diag);
        }
    }
}

fn report_twice(step: &Step, reference: &Reference, diag: &mut Diag) {
    let (step, name) = (step.method_name(), reference.name.unraw());
    diag.at(&reference.name, format!("step `{step}` depends on `{name}` twice; name it once"));
}

fn check_source(step: &Step, diag: &mut Diag) {
    match &step.source {
        None if step.is_map && !step.has_refused_option && !step.is_broken => {
            diag.at_span(
                step.marker,
                "a map says what it runs over: `#[map(over = reserve)]` or `#[map(over = input)]`",
            );
        }
        Some(MapSource::Input(_) | MapSource::Step(_)) | None => {}
    }
}

/// Reports a cycle where its first step names the step for which it waits.
fn report_cycle(flow: &Flow, cycle: &Cycle, diag: &mut Diag) {
    let names: Vec<String> = flow.steps.iter().map(Step::method_name).collect();
    let steps = cycle.steps();
    let (first, second) = (steps[0], steps[1 % steps.len()]);
    let text = if steps.len() == 1 {
        format!("step `{}` depends on itself; no step can wait for its own output", names[first])
    } else {
        let path = cycle.describe(|step| &names[step]);
        format!("these steps wait for each other: {path} (`a -> b` reads: `a` needs `b`)")
    };
    match flow.steps[first].references().find(|reference| reference.target == Some(second)) {
        Some(reference) => diag.at(&reference.name, text),
        None => diag.at(&flow.steps[first].method, text),
    }
}
