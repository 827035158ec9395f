//! Turns declared steps into an ordered, checked definition, for the macro and for the builder.

use std::collections::HashMap;

use serde_json::Value;

use crate::{
    contract::sorted,
    definition::{
        Contract, FlowDefinition, FlowOptions, FlowShape, Mode, Notes, QueueMode, StepKind, StepOptions, StepShape,
        TypeContract,
    },
    order::step_order,
    validate::DefinitionErrors,
};

/// A flow as declared, with its steps in any order.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowDraft {
    /// The flow's slug.
    pub slug: String,
    /// How steps are laid onto queues.
    pub queue_mode: QueueMode,
    /// The flow's options; [`FlowOptions::steps`] is filled in by [`FlowDraft::assemble`].
    pub options: FlowOptions,
    /// The contract of the run's input.
    pub input: TypeContract,
    /// The flow's doc comment.
    pub note: Option<String>,
    /// The steps, as declared.
    pub steps: Vec<StepDraft>,
}

impl FlowDraft {
    /// A flow without steps, with default options and an input that may be anything.
    pub fn new(slug: impl Into<String>) -> Self {
        Self {
            slug: slug.into(),
            queue_mode: QueueMode::Plain,
            options: FlowOptions::default(),
            input: TypeContract::any(),
            note: None,
            steps: Vec::new(),
        }
    }

    /// Puts the steps into step order and checks every rule.
    ///
    /// # Errors
    /// Every mistake of the flow, at once.
    pub fn assemble(self) -> Result<FlowDefinition, DefinitionErrors> {
        let steps = in_step_order(self.steps);
        let definition = FlowDefinition {
            notes: Notes { flow: self.note, steps: steps.iter().map(|step| step.note.clone()).collect() },
            contract: Contract { input: self.input, outputs: steps.iter().map(|step| step.output.clone()).collect() },
            options: FlowOptions { steps: steps.iter().map(|step| step.options.clone()).collect(), ..self.options },
            shape: FlowShape {
                slug: self.slug,
                queue_mode: self.queue_mode,
                steps: steps.into_iter().map(StepDraft::into_shape).collect(),
            },
        };
        definition.validate()?;
        Ok(definition)
    }
}

/// A step as declared.
#[derive(Debug, Clone, PartialEq)]
pub struct StepDraft {
    /// The step's slug.
    pub slug: String,
    /// Whether the step has one task, or one task for each element of its source.
    pub kind: StepKind,
    /// The source of a map: `input` or the slug of a step.
    pub over: Option<String>,
    /// Slugs of the steps whose outputs this step takes, without a map's source.
    pub needs: Vec<String>,
    /// Slugs of the steps that must have ended first.
    pub after: Vec<String>,
    /// The step runs only when its subject contains this pattern.
    pub run_if: Option<Value>,
    /// The step runs only when its subject does not contain this pattern.
    pub run_unless: Option<Value>,
    /// What an unmet condition does; `None` means `skip` where there is a condition.
    pub when_unmet: Option<Mode>,
    /// What an exhausted task does; `None` means `fail`.
    pub when_exhausted: Option<Mode>,
    /// The step's own options.
    pub options: StepOptions,
    /// The queue to which the step is routed.
    pub queue: Option<String>,
    /// The contract of the output; for a map, of the output of one element.
    pub output: TypeContract,
    /// The step's doc comment.
    pub note: Option<String>,
}

impl StepDraft {
    /// A single step without dependencies, whose output may be anything.
    pub fn single(slug: impl Into<String>) -> Self {
        Self {
            slug: slug.into(),
            kind: StepKind::Single,
            over: None,
            needs: Vec::new(),
            after: Vec::new(),
            run_if: None,
            run_unless: None,
            when_unmet: None,
            when_exhausted: None,
            options: StepOptions::default(),
            queue: None,
            output: TypeContract::any(),
            note: None,
        }
    }

    /// A map over `source`, which is `input` or the slug of a step.
    pub fn map(slug: impl Into<String>, source: impl Into<String>) -> Self {
        Self { kind: StepKind::Map, over: Some(source.into()), ..Self::single(slug) }
    }

    fn into_shape(self) -> StepShape {
        let has_condition = self.run_if.is_some() || self.run_unless.is_some();
        StepShape {
            slug: self.slug,
            kind: self.kind,
            over: self.over,
            needs: self.needs,
            after: self.after,
            run_if: self.run_if.map(sorted),
            run_unless: self.run_unless.map(sorted),
            when_unmet: self.when_unmet.or(has_condition.then_some(Mode::WHEN_UNMET)),
            when_exhausted: self.when_exhausted.unwrap_or(Mode::WHEN_EXHAUSTED),
            queue: self.queue,
        }
    }
}

/// Returns the steps in step order, each with its dependencies in step order; the order of declaration when they form a cycle.
///
/// Dependencies that name no step are kept, after the others, so that validation finds them.
fn in_step_order(mut steps: Vec<StepDraft>) -> Vec<StepDraft> {
    let declared: HashMap<&str, usize> = steps.iter().enumerate().rev().map(|(i, step)| (&*step.slug, i)).collect();
    let dependencies: Vec<Vec<usize>> = steps
        .iter()
        .map(|step| {
            let slugs = step.over.iter().chain(&step.needs).chain(&step.after);
            slugs.filter_map(|slug| declared.get(&**slug).copied()).collect()
        })
        .collect();
    let order = step_order(&dependencies).unwrap_or_else(|_| (0..steps.len()).collect());
    let place: HashMap<String, usize> =
        order.iter().enumerate().rev().map(|(place, &step)| (steps[step].slug.clone(), place)).collect();
    let place_of = |slug: &String| place.get(slug).copied().unwrap_or(usize::MAX);
    for step in &mut steps {
        step.needs.sort_by_key(place_of);
        step.after.sort_by_key(place_of);
    }
    let mut steps: Vec<Option<StepDraft>> = steps.into_iter().map(Some).collect();
    order.into_iter().filter_map(|step| steps[step].take()).collect()
}
