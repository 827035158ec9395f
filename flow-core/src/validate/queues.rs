//! Checks that every step has a queue with a legal name.

use super::DefinitionError;
use crate::{
    definition::{FlowShape, QueueMode, StepShape},
    queue_name::{QueueName, is_queue_name},
};

pub(super) fn check(shape: &FlowShape, mistakes: &mut Vec<DefinitionError>) {
    for (index, step) in shape.steps.iter().enumerate() {
        match (shape.queue_mode, &step.queue) {
            (QueueMode::Routed, Some(queue)) if is_queue_name(queue) => {}
            (QueueMode::Routed, Some(queue)) => {
                mistakes.push(DefinitionError::RouteName { step: step.slug.clone(), queue: queue.clone() });
            }
            (QueueMode::Routed, None) => mistakes.push(DefinitionError::RouteMissing { step: step.slug.clone() }),
            (_, Some(queue)) => {
                mistakes.push(DefinitionError::RouteUnexpected { step: step.slug.clone(), queue: queue.clone() });
            }
            (QueueMode::StepQueues, None) => check_private_queue(shape, step, index, mistakes),
            // The flow's only queue is named like the flow's slug, which validate/slugs.rs checks.
            (QueueMode::Plain, None) => {}
        }
    }
}

fn check_private_queue(shape: &FlowShape, step: &StepShape, index: usize, mistakes: &mut Vec<DefinitionError>) {
    if let Err(reason) = QueueName::of_step(&shape.slug, &step.slug, index) {
        mistakes.push(DefinitionError::QueueName { step: step.slug.clone(), index, reason });
    }
}
