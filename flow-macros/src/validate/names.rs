//! Slugs are legal and differ, and so do the names made of methods.

use std::collections::HashMap;

use flow_core::slug::{check_flow_slug, check_step_slug};
use proc_macro2::Span;

use super::signatures::check_written_out;
use crate::{
    diag::Diag,
    model::{Flow, Step},
};

pub(super) fn check(flow: &Flow, diag: &mut Diag) {
    check_flow(flow, diag);
    check_slugs(flow, diag);
    check_variants(flow, diag);
}

fn check_flow(flow: &Flow, diag: &mut Diag) {
    if let Err(reason) = check_flow_slug(&flow.slug.value) {
        let text = format!("flow slug `{}` {reason}; say another with `slug = \"…\"`", flow.slug.value);
        diag.at_span(flow.slug.span, text);
    }
    if let Some(input) = &flow.input {
        check_written_out(flow, input, "the input of a flow", diag);
    }
    if flow.steps.is_empty() && !flow.has_broken_step {
        let text = "a flow has at least one step; mark a method with `#[step]` or `#[map(over = …)]`";
        diag.at_span(Span::call_site(), text);
    }
}

fn check_slugs(flow: &Flow, diag: &mut Diag) {
    let mut seen: HashMap<String, &Step> = HashMap::new();
    for step in &flow.steps {
        let slug = &step.slug;
        if let Err(reason) = check_step_slug(&slug.value) {
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
    }
}

fn check_variants(flow: &Flow, diag: &mut Diag) {
    for (place, step) in flow.steps.iter().enumerate() {
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
}

fn report_same(first: &Step, second: &Step, name: &str, diag: &mut Diag) {
    let [before, here] = [first, second].map(Step::method_name);
    let text = format!("methods `{before}` and `{here}` both give the {name}; say another with `variant = Name`");
    diag.at(&second.method, text);
}
