//! The mistakes a definition can hold, as values.

use std::fmt;

use crate::{options::OutOfRange, queue_name::QueueNameTooLong, slug::SlugError};

/// Every mistake of one flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionErrors {
    flow: String,
    mistakes: Vec<DefinitionError>,
}

impl DefinitionErrors {
    /// Returns the mistakes as an error, when there are any.
    pub(crate) fn collect(flow: &str, mistakes: Vec<DefinitionError>) -> Option<Self> {
        (!mistakes.is_empty()).then(|| Self { flow: flow.to_owned(), mistakes })
    }

    /// The flow's slug.
    pub fn flow(&self) -> &str {
        &self.flow
    }

    /// The mistakes, at least one.
    pub fn mistakes(&self) -> &[DefinitionError] {
        &self.mistakes
    }
}

impl fmt::Display for DefinitionErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.mistakes.len();
        let noun = if count == 1 { "mistake" } else { "mistakes" };
        write!(f, "flow `{}` has {count} {noun}:", self.flow)?;
        self.mistakes.iter().try_for_each(|mistake| write!(f, "\n- {mistake}"))
    }
}

impl std::error::Error for DefinitionErrors {}

/// One mistake of a definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The flow has no steps.
    #[error("the flow has no step; declare at least one")]
    NoSteps,
    /// The flow's slug breaks a rule.
    #[error("flow slug `{slug}` {reason}")]
    FlowSlug {
        /// The slug.
        slug: String,
        /// The rule it breaks.
        reason: SlugError,
    },
    /// A step's slug breaks a rule.
    #[error("step slug `{slug}` {reason}")]
    StepSlug {
        /// The slug.
        slug: String,
        /// The rule it breaks.
        reason: SlugError,
    },
    /// Two steps have slugs that are equal ignoring case.
    #[error("step slugs `{first}` and `{second}` are equal ignoring case; give one of them another")]
    DuplicateSlug {
        /// The slug of the earlier step.
        first: String,
        /// The slug of the later step.
        second: String,
    },
    /// A dependency names no step.
    #[error("step `{step}` {role} `{missing}`, but this flow has no such step{}", did_you_mean(near))]
    UnknownDependency {
        /// The step that depends.
        step: String,
        /// Whether the step takes the other's output, waits for it, or maps over it.
        role: DependencyRole,
        /// The slug that names no step.
        missing: String,
        /// The step that was probably meant.
        near: Option<String>,
    },
    /// A step names another step twice as a dependency.
    #[error("step `{step}` depends on `{dependency}` twice; name it once")]
    DuplicateDependency {
        /// The step that depends.
        step: String,
        /// What it depends on.
        dependency: String,
    },
    /// A step depends on a step that comes later in the list of steps.
    #[error("step `{step}` stands before `{dependency}`, which it depends on; steps are listed in step order")]
    OutOfOrder {
        /// The step that depends.
        step: String,
        /// What it depends on.
        dependency: String,
    },
    /// A step's dependencies are not listed in step order.
    #[error("step `{step}` lists its dependencies out of step order")]
    UnsortedDependencies {
        /// The step that depends.
        step: String,
    },
    /// Steps wait for each other.
    #[error("{}; `a -> b` reads: `a` needs `b`", describe_cycle(steps))]
    Cycle {
        /// The steps, each waiting for the next, and the last for the first.
        steps: Vec<String>,
    },
    /// A map has no source.
    #[error("map `{step}` has no source; say what it runs over")]
    MapWithoutSource {
        /// The map.
        step: String,
    },
    /// A single step has a source.
    #[error("step `{step}` runs over `{over}` but is no map; make it a map or drop the source")]
    SourceWithoutMap {
        /// The step.
        step: String,
        /// Its source.
        over: String,
    },
    /// A number lies outside its bounds.
    #[error("{owner}: {reason}")]
    OutOfRange {
        /// Whose option it is.
        owner: Owner,
        /// The option, its value and its bounds.
        reason: OutOfRange,
    },
    /// The longest delay is below the first one.
    #[error(
        "{owner}: max_delay of {max_delay} is below the base_delay of {base_delay}; raise max_delay or lower base_delay"
    )]
    DelaysCrossed {
        /// The flow or step to which the two delays apply.
        owner: Owner,
        /// The first delay that applies.
        base_delay: String,
        /// The longest delay that applies.
        max_delay: String,
    },
    /// There is a mode for an unmet condition, and no condition.
    #[error("step `{step}` has when_unmet but no condition; add run_if or run_unless, or drop when_unmet")]
    UnmetWithoutCondition {
        /// The step.
        step: String,
    },
    /// There is a condition, and no mode for it.
    #[error("step `{step}` has a condition but no when_unmet")]
    ConditionWithoutUnmet {
        /// The step.
        step: String,
    },
    /// A dependent step's condition is no object.
    #[error("{option} of step `{step}` is no object; the step has dependencies, so its keys are their slugs")]
    ConditionNotObject {
        /// The step.
        step: String,
        /// `run_if` or `run_unless`.
        option: &'static str,
    },
    /// A dependent step's condition has a key that is no dependency.
    #[error("{option} of step `{step}` has the key `{key}`, which is no dependency of it{}", did_you_mean(near))]
    ConditionKey {
        /// The step.
        step: String,
        /// `run_if` or `run_unless`.
        option: &'static str,
        /// The key.
        key: String,
        /// The dependency that was probably meant.
        near: Option<String>,
    },
    /// A condition holds the character U+0000, which the database cannot store.
    #[error("{option} of step `{step}` holds the character U+0000, which no stored text can contain")]
    ConditionNul {
        /// The step.
        step: String,
        /// `run_if` or `run_unless`.
        option: &'static str,
    },
    /// A condition can never be met by the types of its subject.
    #[error("{option} of step `{step}`, at `{path}`: {reason}")]
    ConditionType {
        /// The step.
        step: String,
        /// `run_if` or `run_unless`.
        option: &'static str,
        /// The place in the pattern, as in `order.lines[0].gift`.
        path: String,
        /// What the subject's type says.
        reason: String,
    },
    /// A list that must have one entry a step has another length.
    #[error("{list} has {found} entries for {steps} steps; it has one a step")]
    Length {
        /// The list.
        list: &'static str,
        /// The number of its entries.
        found: usize,
        /// The number of the flow's steps.
        steps: usize,
    },
    /// Neither form of a private queue's name fits into the longest length.
    #[error("step `{step}` with index {index} has no queue name: {reason}")]
    QueueName {
        /// The step.
        step: String,
        /// Its place in step order.
        index: usize,
        /// The lengths of the two names.
        reason: QueueNameTooLong,
    },
    /// A step of a routed flow has no queue.
    #[error("step `{step}` has no route; every step of a routed flow names its queue")]
    RouteMissing {
        /// The step.
        step: String,
    },
    /// A step has a queue, and the flow is not routed.
    #[error("step `{step}` names the queue `{queue}`, but the flow is not routed")]
    RouteUnexpected {
        /// The step.
        step: String,
        /// The queue it names.
        queue: String,
    },
    /// The queue of a route has a name that is not legal.
    #[error("step `{step}` is routed to `{queue}`, which is no queue name: it is 1 to 47 of a-z, 0-9 and `_`")]
    RouteName {
        /// The step.
        step: String,
        /// The queue it names.
        queue: String,
    },
}

/// How a step depends on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependencyRole {
    /// The step takes the other step's output.
    Needs,
    /// The step waits for the other step without taking its output.
    After,
    /// The step maps over the other step's output.
    Over,
}

impl fmt::Display for DependencyRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Needs => "needs",
            Self::After => "comes after",
            Self::Over => "maps over",
        })
    }
}

/// Whose option it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// The flow itself.
    Flow(String),
    /// The step with this slug.
    Step(String),
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flow(slug) => write!(f, "flow `{slug}`"),
            Self::Step(slug) => write!(f, "step `{slug}`"),
        }
    }
}

fn did_you_mean(near: &Option<String>) -> String {
    near.as_ref().map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

fn describe_cycle(steps: &[String]) -> String {
    match steps {
        [step] => format!("step `{step}` depends on itself"),
        _ => {
            let names: Vec<&str> = steps.iter().chain(steps.first()).map(String::as_str).collect();
            format!("dependency cycle: {}", names.join(" -> "))
        }
    }
}
