//! Checks that options lie within their bounds and fit each other.

use flow_core::{duration::format_duration_ms, near::near_miss, options::NumberOption};
use syn::ext::IdentExt;

use super::each_step;
use crate::{
    diag::Diag,
    model::{Flow, Given, GivenNumbers, Reference, Step},
    parse::Json,
};

pub(super) fn check(flow: &Flow, diag: &mut Diag) {
    check_ranges("the flow", &flow.numbers, diag);
    check_delays(flow, None, diag);
    each_step(flow, diag, |step, diag| {
        check_ranges(&format!("step `{}`", step.method_name()), &step.numbers, diag);
        check_delays(flow, Some(step), diag);
        check_unmet(step, diag);
        check_condition(flow, step, "run_if", step.run_if.as_ref(), diag);
        check_condition(flow, step, "run_unless", step.run_unless.as_ref(), diag);
    });
}

fn check_ranges(owner: &str, numbers: &GivenNumbers, diag: &mut Diag) {
    for (option, said) in numbers.iter() {
        if let Err(reason) = option.check(said.value) {
            diag.at_span(said.span, format!("{owner}: {reason}"));
        }
    }
}

/// Checks that the longest delay that applies is not below the first delay. Reported where the nearer of the two is given.
fn check_delays(flow: &Flow, step: Option<&Step>, diag: &mut Diag) {
    let own = step.map_or(&flow.numbers, |step| &step.numbers);
    let applies = |option: NumberOption| {
        own.get(option).or(flow.numbers.get(option)).map_or(option.default_value(), |said| said.value)
    };
    let (base, max) = (applies(NumberOption::BaseDelay), applies(NumberOption::MaxDelay));
    let Some(said) = own.get(NumberOption::MaxDelay).or(own.get(NumberOption::BaseDelay)) else { return };
    let is_legal = |option: NumberOption, value| option.check(value).is_ok();
    if max < base && is_legal(NumberOption::BaseDelay, base) && is_legal(NumberOption::MaxDelay, max) {
        let owner = step.map_or("the flow".to_owned(), |step| format!("step `{}`", step.method_name()));
        let [base, max] = [base, max].map(format_duration_ms);
        let text = format!(
            "{owner}: max_delay of {max} is below the base_delay of {base}; raise max_delay or lower base_delay"
        );
        diag.at_span(said.span, text);
    }
}

fn check_unmet(step: &Step, diag: &mut Diag) {
    if let Some(said) = &step.when_unmet
        && step.run_if.is_none()
        && step.run_unless.is_none()
    {
        let text =
            "`when_unmet` says what an unmet condition does, and this step has none; add `run_if` or `run_unless`";
        diag.at_span(said.span, text);
    }
}

/// Checks that the condition of a step with dependencies is an object whose keys are the dependencies' slugs.
fn check_condition(flow: &Flow, step: &Step, option: &str, said: Option<&Given<Json>>, diag: &mut Diag) {
    let Some(said) = said else { return };
    let references: Vec<&Reference> = step.references().collect();
    if references.is_empty() {
        return;
    }
    let Json::Object(fields) = &said.value else {
        let name = references[0].name.unraw();
        let text = format!(
            "`{option}` of a step with dependencies is an object with their slugs as keys, as in {{ \"{name}\": … }}"
        );
        diag.at_span(said.span, text);
        return;
    };
    let slugs: Vec<&str> = step.dependencies().map(|declared| flow.steps[declared].slug.value.as_str()).collect();
    for (key, _) in fields.iter().filter(|(key, _)| !slugs.contains(&key.value().as_str())) {
        let hint = near_miss(&key.value(), slugs.iter().copied()).map_or_else(
            || format!("its dependencies are `{}`", slugs.join("`, `")),
            |near| format!("did you mean `{near}`?"),
        );
        let text = format!("`{}` is no dependency of step `{}`; {hint}", key.value(), step.method_name());
        diag.at(key, text);
    }
}
