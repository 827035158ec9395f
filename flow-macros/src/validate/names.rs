//! Checks that slugs are legal and differ, and that the names made from methods do too.

use std::collections::HashMap;

use super::each_step;
use crate::{
    diag::Diag,
    model::{Flow, Step},
};
use flow_core::slug::{check_flow_slug, check_step_slug};

/// The names of parameters that do not take a step's output.
const RESERVED_METHODS: [&str; 3] = ["input", "item", "ctx"];

pub(super) fn check(flow: &Flow, diag: &mut Diag) {
    check_flow(flow, diag);
    check_slugs(flow, diag);
    check_variants(flow, diag);
    each_step(flow, diag, |step, diag| {
        check_method(step, diag);
        check_constant(flow, step, diag);
    });
    check_generated(flow, diag);
}

fn check_flow(flow: &Flow, diag: &mut Diag) {
    if let Err(reason) = check_flow_slug(&flow.slug.value) {
        let text = format!("flow slug `{}` {reason}; say another with `slug = \"…\"`", flow.slug.value);
        diag.at_span(flow.slug.span, text);
    }
}

/// Checks that the step is not called `input`, `item` or `ctx`: parameters of these names do not take a step's output.
fn check_method(step: &Step, diag: &mut Diag) {
    let name = step.method_name();
    let is = match name.as_str() {
        "input" => "the run's input",
        "item" => "the element of a map",
        "ctx" => "the context",
        _ => return,
    };
    let text = format!(
        "a step cannot be called `{name}`, since a parameter called `{name}` is {is}; rename the method, and keep its name \
         in data with `slug = \"…\"`"
    );
    diag.at(&step.method, text);
}

/// Checks that the step's key, a constant of the flow's type, does not meet a constant of the user.
fn check_constant(flow: &Flow, step: &Step, diag: &mut Diag) {
    if let Some(constant) = flow.constants.iter().find(|constant| **constant == step.key) {
        let text = format!(
            "step `{}` gives the flow's type a constant `{constant}`, its key; rename yours, or say `variant = Name` on the step",
            step.method_name()
        );
        diag.at(constant, text);
    }
}

/// Checks that no type of the user has a name that the flow gives to a generated type.
fn check_generated(flow: &Flow, diag: &mut Diag) {
    for (generated, what) in [(&flow.output_struct, "the run's output"), (&flow.step_enum, "its steps")] {
        if let Some(word) = &generated.taken {
            let text = format!(
                "`{word}` is the name that this flow gives to {what}; rename your type, or say `names = …` on `#[flow]`"
            );
            diag.at(word, text);
        }
    }
}

fn check_slugs(flow: &Flow, diag: &mut Diag) {
    let mut seen: HashMap<String, &Step> = HashMap::new();
    each_step(flow, diag, |step, diag| {
        let slug = &step.slug;
        // `check_method` reports a method with a reserved name.
        let is_judged = step.has_own_slug || !RESERVED_METHODS.contains(&slug.value.as_str());
        if let Err(reason) = check_step_slug(&slug.value)
            && is_judged
        {
            diag.at_span(slug.span, format!("step slug `{}` {reason}; say another with `slug = \"…\"`", slug.value));
        }
        match seen.get(&slug.value.to_ascii_lowercase()) {
            // rustc reports two methods of one name.
            Some(first) if first.method == step.method => {}
            Some(first) => {
                let text = format!(
                    "step slug `{}` is taken: method `{}` has `{}`, and slugs differ by more than case",
                    slug.value,
                    first.method_name(),
                    first.slug.value
                );
                diag.at_span(slug.span, text);
            }
            None => {
                seen.insert(slug.value.to_ascii_lowercase(), step);
            }
        }
    });
}

fn check_variants(flow: &Flow, diag: &mut Diag) {
    for (place, step) in flow.steps.iter().enumerate() {
        diag.enter_step(place);
        if step.variant == "Self" {
            let text = format!(
                "method `{}` gives the variant `Self`, which is no name; say another with `variant = Name`",
                step.method_name()
            );
            diag.at(&step.method, text);
        }
        // rustc reports two methods of one name.
        let earlier = || flow.steps[..place].iter().filter(|first| first.method != step.method);
        if let Some(first) = earlier().find(|first| first.variant == step.variant) {
            report_same(first, step, &format!("variant `{}`", step.variant), diag);
        } else if let Some(first) = earlier().find(|first| first.key == step.key) {
            report_same(first, step, &format!("key `{}`", step.key), diag);
        }
    }
    diag.leave_steps();
}

fn report_same(first: &Step, second: &Step, name: &str, diag: &mut Diag) {
    let [before, here] = [first, second].map(Step::method_name);
    let text = format!("methods `{before}` and `{here}` both give the {name}; say another with `variant = Name`");
    diag.at(&second.method, text);
}
