//! Definitions as plain JSON, so that a test can also send what no macro would make.

use serde_json::{Value, json};

/// A flow's definition under construction; the steps must be named in step order.
#[derive(Debug, Clone)]
pub struct Graph {
    slug: String,
    queue_mode: &'static str,
    steps: Vec<Value>,
    options: Value,
    step_options: Vec<Value>,
}

impl Graph {
    /// A plain flow without steps.
    pub fn new(slug: &str) -> Self {
        Self {
            slug: slug.to_owned(),
            queue_mode: "plain",
            steps: Vec::new(),
            options: json!({ "max_attempts": 3, "base_delay_ms": 1000, "max_delay_ms": 300_000, "timeout_ms": 60_000 }),
            step_options: Vec::new(),
        }
    }

    /// Every step gets a private queue.
    #[must_use]
    pub fn step_queues(mut self) -> Self {
        self.queue_mode = "step_queues";
        self
    }

    /// Sets one option of the flow, such as `max_attempts`.
    #[must_use]
    pub fn option(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.options[name] = value.into();
        self
    }

    /// Adds a single step that takes the outputs of `needs`.
    #[must_use]
    pub fn single(self, slug: &str, needs: &[&str]) -> Self {
        self.step(slug, Value::Null, needs)
    }

    /// Adds a map over `source` (`input` or a step) that also takes the outputs of `needs`.
    #[must_use]
    pub fn map(self, slug: &str, source: &str, needs: &[&str]) -> Self {
        self.step(slug, source.into(), needs)
    }

    fn step(mut self, slug: &str, over: Value, needs: &[&str]) -> Self {
        let kind = if over.is_null() { "single" } else { "map" };
        self.steps.push(json!({
            "slug": slug, "kind": kind, "over": over, "needs": needs, "after": [],
            "when_unmet": null, "when_exhausted": "fail", "queue": null,
        }));
        self.step_options.push(json!({}));
        self
    }

    /// Sets one field of the step added last, such as `run_if` or `when_exhausted`. A condition without `when_unmet`
    /// gets `skip`, as everywhere.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        let step = self.steps.last_mut().expect("a step comes first");
        step[field] = value.into();
        if field.starts_with("run_") && step["when_unmet"].is_null() {
            step["when_unmet"] = "skip".into();
        }
        self
    }

    /// Sets one option of the step added last, such as `start_delay_ms`.
    #[must_use]
    pub fn step_option(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.step_options.last_mut().expect("a step comes first")[name] = value.into();
        self
    }

    /// The flow's slug.
    pub fn slug(&self) -> &str {
        &self.slug
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there is no step yet.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The shape alone, as a worker registers with it.
    pub fn shape(&self) -> Value {
        json!({ "slug": self.slug, "queue_mode": self.queue_mode, "steps": self.steps })
    }

    /// The definition as a worker sends it.
    pub fn definition(&self) -> Value {
        let anything = json!({ "schema": true, "hash": "any" });
        let mut options = self.options.clone();
        options["steps"] = self.step_options.clone().into();
        json!({
            "shape": self.shape(),
            "options": options,
            "contract": { "input": anything, "outputs": vec![anything.clone(); self.steps.len()] },
            "notes": { "steps": vec![Value::Null; self.steps.len()] },
        })
    }
}
