//! The contract between macro, worker and database: the ordered structural definition of a flow.

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::{
    mode::{Mode, StepKind},
    options::{FlowOptions, StepOptions},
};

/// The ordered, serialisable definition of a flow: shape, options, contract and notes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowDefinition {
    /// What must not change under one slug.
    pub shape: FlowShape,
    /// Attempts, delays and timeouts; applied on every deploy.
    pub options: FlowOptions,
    /// JSON Schemas of the input and the outputs.
    pub contract: Contract,
    /// Doc comments, for people; no comparison of definitions reads them.
    pub notes: Notes,
}

/// The part of a definition that must not change under one slug.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowShape {
    /// The flow's slug, as written.
    pub slug: String,
    /// How steps are laid onto queues.
    pub queue_mode: QueueMode,
    /// The steps, in step order.
    pub steps: Vec<StepShape>,
}

/// How the steps of a flow are laid onto queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueMode {
    /// Every step on the one queue named like the flow.
    Plain,
    /// Every step on its own private queue.
    StepQueues,
    /// Every step on the queue that its route names.
    Routed,
}

/// One step of a [`FlowShape`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepShape {
    /// The step's slug, as written.
    pub slug: String,
    /// Whether the step has one task, or one task for each element of its source.
    pub kind: StepKind,
    /// The source of a map: `input` or the slug of a step. `None` for a single step.
    pub over: Option<String>,
    /// Slugs of the steps whose outputs this step takes (without a map's source), in step order.
    pub needs: Vec<String>,
    /// Slugs of the steps that must have ended first, without data, in step order.
    pub after: Vec<String>,
    /// The step runs only when its subject contains this pattern.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub run_if: Option<Value>,
    /// The step runs only when its subject does not contain this pattern.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub run_unless: Option<Value>,
    /// What happens when a condition is not met. `None` when the step has no condition.
    pub when_unmet: Option<Mode>,
    /// What happens when no attempt is left.
    pub when_exhausted: Mode,
    /// The queue this step is routed to; `None` unless the queue mode is [`QueueMode::Routed`].
    pub queue: Option<String>,
}

/// Keeps JSON `null`, which is a condition, apart from an absent field, which is no condition.
fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// JSON Schemas of a flow's input and of its steps' outputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// The contract of the run's input.
    pub input: TypeContract,
    /// The contracts of the steps' outputs, in step order; for a map, of the output of one element.
    pub outputs: Vec<TypeContract>,
}

/// One JSON Schema with its hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TypeContract {
    /// JSON Schema (2020-12); `true` allows anything.
    pub schema: Value,
    /// SHA-256 of the schema with its keys sorted, in lower-case hex.
    pub hash: String,
}

/// Doc comments of a flow and its steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notes {
    /// The flow's own doc comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The steps' doc comments, in step order; `null` for a step without one.
    pub steps: Vec<Option<String>>,
}
