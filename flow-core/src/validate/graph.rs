//! Checks that dependencies name steps, once each, and form no cycle.

use std::collections::{HashMap, HashSet};

use super::{DefinitionError, DependencyRole};
use crate::{
    definition::{FlowShape, StepKind, StepShape},
    near::near_miss,
    order::step_order,
};

pub(super) fn check(shape: &FlowShape, mistakes: &mut Vec<DefinitionError>) {
    let places: HashMap<&str, usize> =
        shape.steps.iter().enumerate().rev().map(|(place, step)| (&*step.slug, place)).collect();
    for step in &shape.steps {
        check_source(step, mistakes);
        check_names(step, &places, shape, mistakes);
        check_once(step, mistakes);
    }
    let dependencies: Vec<Vec<usize>> = shape
        .steps
        .iter()
        .map(|step| step.dependencies().filter_map(|(_, slug)| places.get(slug).copied()).collect())
        .collect();
    match step_order(&dependencies) {
        Ok(_) => check_order(shape, &places, &dependencies, mistakes),
        Err(cycles) => mistakes.extend(cycles.into_iter().map(|cycle| DefinitionError::Cycle {
            steps: cycle.steps().iter().map(|&step| shape.steps[step].slug.clone()).collect(),
        })),
    }
}

impl StepShape {
    /// The slugs of the steps on which this step depends, each with the kind of dependency: the source, then data, then order-only.
    ///
    /// A map over the run's input has no dependency by its source.
    pub fn dependencies(&self) -> impl Iterator<Item = (DependencyRole, &str)> {
        let over = self.over.iter().filter(|over| *over != "input").map(|slug| (DependencyRole::Over, &**slug));
        let needs = self.needs.iter().map(|slug| (DependencyRole::Needs, &**slug));
        over.chain(needs).chain(self.after.iter().map(|slug| (DependencyRole::After, &**slug)))
    }
}

fn check_source(step: &StepShape, mistakes: &mut Vec<DefinitionError>) {
    match (step.kind, &step.over) {
        (StepKind::Map, None) => mistakes.push(DefinitionError::MapWithoutSource { step: step.slug.clone() }),
        (StepKind::Single, Some(over)) => {
            mistakes.push(DefinitionError::SourceWithoutMap { step: step.slug.clone(), over: over.clone() });
        }
        _ => {}
    }
}

fn check_names(
    step: &StepShape,
    places: &HashMap<&str, usize>,
    shape: &FlowShape,
    mistakes: &mut Vec<DefinitionError>,
) {
    for (role, missing) in step.dependencies().filter(|(_, slug)| !places.contains_key(slug)) {
        let near = near_miss(missing, shape.steps.iter().map(|step| &*step.slug));
        mistakes.push(DefinitionError::UnknownDependency {
            step: step.slug.clone(),
            role,
            missing: missing.to_owned(),
            near: near.map(str::to_owned),
        });
    }
}

fn check_once(step: &StepShape, mistakes: &mut Vec<DefinitionError>) {
    let mut seen = HashSet::new();
    for (_, slug) in step.dependencies().filter(|(_, slug)| !seen.insert(*slug)) {
        mistakes.push(DefinitionError::DuplicateDependency { step: step.slug.clone(), dependency: slug.to_owned() });
    }
}

fn check_order(
    shape: &FlowShape,
    places: &HashMap<&str, usize>,
    dependencies: &[Vec<usize>],
    mistakes: &mut Vec<DefinitionError>,
) {
    for (place, step) in shape.steps.iter().enumerate() {
        for &needed in dependencies[place].iter().filter(|needed| **needed >= place) {
            let dependency = shape.steps[needed].slug.clone();
            mistakes.push(DefinitionError::OutOfOrder { step: step.slug.clone(), dependency });
        }
        let is_sorted = |slugs: &[String]| slugs.is_sorted_by_key(|slug| places.get(&**slug));
        let names_only_steps = step.dependencies().all(|(_, slug)| places.contains_key(slug));
        if names_only_steps && !(is_sorted(&step.needs) && is_sorted(&step.after)) {
            mistakes.push(DefinitionError::UnsortedDependencies { step: step.slug.clone() });
        }
    }
}
