//! Checks that slugs are legal and that the slugs of one flow's steps differ.

use std::collections::HashMap;

use super::DefinitionError;
use crate::{
    definition::FlowShape,
    slug::{check_flow_slug, check_step_slug},
};

pub(super) fn check(shape: &FlowShape, mistakes: &mut Vec<DefinitionError>) {
    if let Err(reason) = check_flow_slug(&shape.slug) {
        mistakes.push(DefinitionError::FlowSlug { slug: shape.slug.clone(), reason });
    }
    if shape.steps.is_empty() {
        mistakes.push(DefinitionError::NoSteps);
    }
    let mut seen: HashMap<String, &str> = HashMap::new();
    for step in &shape.steps {
        if let Err(reason) = check_step_slug(&step.slug) {
            mistakes.push(DefinitionError::StepSlug { slug: step.slug.clone(), reason });
        }
        match seen.get(&step.slug.to_ascii_lowercase()) {
            Some(first) => {
                mistakes.push(DefinitionError::DuplicateSlug { first: (*first).to_owned(), second: step.slug.clone() })
            }
            None => {
                seen.insert(step.slug.to_ascii_lowercase(), &step.slug);
            }
        }
    }
}
