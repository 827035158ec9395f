//! Random flows: every kind, edge, condition and mode, in up to seven steps.

use std::collections::BTreeSet;

use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use crate::support::Graph;

/// What a map runs over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelSource {
    /// The run's input.
    Input,
    /// The output of a step.
    Step(usize),
}

/// What an unmet condition or an exhausted task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Skips the step.
    Skip,
    /// Skips the step and all behind it.
    SkipCascade,
    /// Fails the run.
    Fail,
}

/// One step, named `s` and its index.
#[derive(Debug, Clone)]
pub struct Step {
    /// The source, in a map.
    pub over: Option<ModelSource>,
    /// Data dependencies.
    pub needs: BTreeSet<usize>,
    /// Order-only dependencies.
    pub after: BTreeSet<usize>,
    /// The condition that must be contained.
    pub run_if: Option<Value>,
    /// The condition that must not be.
    pub run_unless: Option<Value>,
    /// What an unmet condition does.
    pub when_unmet: Mode,
    /// What a task without attempts left does.
    pub when_exhausted: Mode,
    /// How often a task is tried.
    pub max_attempts: i32,
}

/// A flow whose steps stand in step order.
#[derive(Debug, Clone)]
pub struct Flow {
    /// The steps.
    pub steps: Vec<Step>,
    /// Whether each step has a queue of its own.
    pub has_step_queues: bool,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::SkipCascade => "skip_cascade",
            Self::Fail => "fail",
        }
    }
}

impl Step {
    /// All steps that must end before this one.
    pub fn dependencies(&self) -> BTreeSet<usize> {
        let source = match self.over {
            Some(ModelSource::Step(source)) => Some(source),
            _ => None,
        };
        self.needs.iter().chain(&self.after).copied().chain(source).collect()
    }

    fn has_condition(&self) -> bool {
        self.run_if.is_some() || self.run_unless.is_some()
    }
}

impl Flow {
    /// The steps that wait for this one.
    pub fn dependents(&self, step: usize) -> Vec<usize> {
        (0..self.steps.len()).filter(|other| self.steps[*other].dependencies().contains(&step)).collect()
    }

    /// The lowest map that runs over this step.
    pub fn fed_map(&self, step: usize) -> Option<usize> {
        self.steps.iter().position(|other| other.over == Some(ModelSource::Step(step)))
    }

    /// The queue of a step, in a flow with this slug.
    pub fn queue(&self, slug: &str, step: usize) -> String {
        if self.has_step_queues { format!("{slug}__s{step}") } else { slug.to_owned() }
    }

    /// The definition; retries do not wait unless a failure says so.
    pub fn graph(&self, slug: &str) -> Graph {
        let mut graph = Graph::new(slug).option("base_delay_ms", 0);
        if self.has_step_queues {
            graph = graph.step_queues();
        }
        let names = |steps: &BTreeSet<usize>| steps.iter().map(|step| format!("s{step}")).collect::<Vec<_>>();
        for (index, step) in self.steps.iter().enumerate() {
            let (slug, needs) = (format!("s{index}"), names(&step.needs));
            let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
            graph = match step.over {
                None => graph.single(&slug, &needs),
                Some(ModelSource::Input) => graph.map(&slug, "input", &needs),
                Some(ModelSource::Step(source)) => graph.map(&slug, &format!("s{source}"), &needs),
            };
            graph = graph
                .with("after", names(&step.after))
                .with("when_exhausted", step.when_exhausted.name())
                .step_option("max_attempts", step.max_attempts);
            for (field, pattern) in [("run_if", &step.run_if), ("run_unless", &step.run_unless)] {
                if let Some(pattern) = pattern {
                    graph = graph.with(field, pattern.clone());
                }
            }
            if step.has_condition() {
                graph = graph.with("when_unmet", step.when_unmet.name());
            }
        }
        graph
    }
}

/// The raw numbers one step is made of, so that every combination shrinks to a legal flow.
#[derive(Debug, Clone)]
struct Raw {
    kind: u8,
    source: usize,
    edges: [u8; 4],
    conditions: [Option<(usize, usize)>; 2],
    modes: [Mode; 2],
    max_attempts: i32,
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Skip), Just(Mode::SkipCascade), Just(Mode::Fail)]
}

fn any_raw() -> impl Strategy<Value = Raw> {
    let condition = || proptest::option::weighted(0.25, (0_usize..8, 0_usize..5));
    (0_u8..6, 0_usize..8, any::<[u8; 4]>(), [condition(), condition()], [any_mode(), any_mode()], 1..=3).prop_map(
        |(kind, source, edges, conditions, modes, max_attempts)| Raw {
            kind,
            source,
            edges,
            conditions,
            modes,
            max_attempts,
        },
    )
}

/// Any flow of one to seven steps.
pub fn any_flow() -> impl Strategy<Value = Flow> {
    (vec(any_raw(), 1..=7), proptest::bool::weighted(0.3)).prop_map(|(raw, has_step_queues)| Flow {
        steps: raw.iter().enumerate().map(|(index, raw)| step(index, raw)).collect(),
        has_step_queues,
    })
}

fn step(index: usize, raw: &Raw) -> Step {
    let over = match raw.kind {
        0..=2 => None,
        3 => Some(ModelSource::Input),
        _ if index > 0 => Some(ModelSource::Step(raw.source % index)),
        _ => None,
    };
    let is_source = |step: &usize| over == Some(ModelSource::Step(*step));
    let chosen = |bits: u8| (0..index).filter(move |step| bits >> step & 1 == 1);
    let needs: BTreeSet<usize> = chosen(raw.edges[0] & raw.edges[1]).filter(|step| !is_source(step)).collect();
    let after: BTreeSet<usize> =
        chosen(raw.edges[2] & raw.edges[3]).filter(|step| !is_source(step) && !needs.contains(step)).collect();
    let mut step = Step {
        over,
        needs,
        after,
        run_if: None,
        run_unless: None,
        when_unmet: raw.modes[0],
        when_exhausted: raw.modes[1],
        max_attempts: raw.max_attempts,
    };
    let dependencies: Vec<usize> = step.dependencies().into_iter().collect();
    step.run_if = raw.conditions[0].map(|(at, pattern)| condition(&dependencies, at, pattern));
    step.run_unless = raw.conditions[1].map(|(at, pattern)| condition(&dependencies, at, pattern));
    step
}

/// A pattern for the input, which is a list of numbers, or for one of the dependencies.
fn condition(dependencies: &[usize], at: usize, pattern: usize) -> Value {
    if dependencies.is_empty() {
        return [json!([]), json!([0]), json!([1]), json!(1), json!({})][pattern].clone();
    }
    let part = [json!([]), json!([1]), json!({"v": 1}), json!({}), json!(null)][pattern].clone();
    if at == 7 { json!({}) } else { json!({ format!("s{}", dependencies[at % dependencies.len()]): part }) }
}
