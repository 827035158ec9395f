//! Checks that options lie within their bounds, and that lists have one entry a step.

use super::{DefinitionError, Owner};
use crate::{definition::FlowDefinition, duration::format_duration_ms, options::NumberOption};

pub(super) fn check(definition: &FlowDefinition, mistakes: &mut Vec<DefinitionError>) {
    let FlowDefinition { shape, options, contract, notes } = definition;
    let steps = shape.steps.len();
    let lists = [
        ("options.steps", options.steps.len()),
        ("contract.outputs", contract.outputs.len()),
        ("notes.steps", notes.steps.len()),
    ];
    for (list, found) in lists.into_iter().filter(|(_, found)| *found != steps) {
        mistakes.push(DefinitionError::Length { list, found, steps });
    }
    let flow = Owner::Flow(shape.slug.clone());
    check_ranges(&flow, options.numbers(), mistakes);
    check_delays(&flow, options.base_delay_ms, options.max_delay_ms, mistakes);
    for (step, own) in shape.steps.iter().zip(&options.steps) {
        let owner = Owner::Step(step.slug.clone());
        check_ranges(&owner, own.numbers(), mistakes);
        if own.base_delay_ms.is_some() || own.max_delay_ms.is_some() {
            let base_delay = own.base_delay_ms.unwrap_or(options.base_delay_ms);
            let max_delay = own.max_delay_ms.unwrap_or(options.max_delay_ms);
            check_delays(&owner, base_delay, max_delay, mistakes);
        }
    }
}

fn check_ranges(
    owner: &Owner,
    numbers: impl Iterator<Item = (NumberOption, u64)>,
    mistakes: &mut Vec<DefinitionError>,
) {
    for reason in numbers.filter_map(|(option, value)| option.check(value).err()) {
        mistakes.push(DefinitionError::OutOfRange { owner: owner.clone(), reason });
    }
}

fn check_delays(owner: &Owner, base_delay: u64, max_delay: u64, mistakes: &mut Vec<DefinitionError>) {
    if max_delay < base_delay {
        mistakes.push(DefinitionError::DelaysCrossed {
            owner: owner.clone(),
            base_delay: format_duration_ms(base_delay),
            max_delay: format_duration_ms(max_delay),
        });
    }
}
