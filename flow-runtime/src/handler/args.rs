//! The arguments of one task, as JSON text that is shared between tasks and decoded by its handler.

use std::sync::Arc;

use flow_core::{error::StepError, value::json};
use serde::{Serialize, de::DeserializeOwned};

/// The arguments of one task's handler. Values stay JSON text until generated code decodes them into the types of the parameters.
#[derive(Clone, Default)]
pub struct StepArgs {
    /// The run's input, when the step takes it.
    pub(crate) input: Option<Arc<str>>,
    /// The task's element, in a map.
    pub(crate) item: Option<Arc<str>>,
    /// Outputs of completed dependencies, with the steps' indexes.
    pub(crate) deps: Vec<(usize, Arc<str>)>,
}

impl StepArgs {
    /// The run's input, for parameter `param`.
    ///
    /// # Errors
    /// An error that names the parameter and the JSON path, and no value: undecodable when the JSON does not fit `T`, permanent when there
    /// is no input.
    pub fn input<T: DeserializeOwned>(&self, param: &'static str) -> Result<T, StepError> {
        decode(param, self.input.as_deref())
    }

    /// The map's element, for parameter `param`.
    ///
    /// # Errors
    /// As [`StepArgs::input`].
    pub fn item<T: DeserializeOwned>(&self, param: &'static str) -> Result<T, StepError> {
        decode(param, self.item.as_deref())
    }

    /// The output of the step with index `step`, for parameter `param`.
    ///
    /// # Errors
    /// As [`StepArgs::input`].
    pub fn dep<T: DeserializeOwned>(&self, param: &'static str, step: usize) -> Result<T, StepError> {
        decode(param, self.dep_text(step))
    }

    /// The output of the step with index `step`, or `None` when that step was skipped.
    ///
    /// # Errors
    /// As [`StepArgs::input`].
    pub fn optional_dep<T: DeserializeOwned>(&self, param: &'static str, step: usize) -> Result<Option<T>, StepError> {
        self.dep_text(step).map(|text| decode(param, Some(text))).transpose()
    }

    fn dep_text(&self, step: usize) -> Option<&str> {
        self.deps.iter().find(|(index, _)| *index == step).map(|(_, text)| &**text)
    }
}

/// Decodes `text` for parameter `param`. The error names the place in the JSON, and never the value.
fn decode<T: DeserializeOwned>(param: &str, text: Option<&str>) -> Result<T, StepError> {
    let text = text.ok_or_else(|| StepError::permanent(format!("parameter `{param}` has no value in this run")))?;
    json::decode(text).map_err(|reason| {
        let wanted = std::any::type_name::<T>();
        StepError::undecodable(format!("parameter `{param}` does not decode into `{wanted}`: {reason}"))
    })
}

/// Writes a handler's output as JSON text that reads back as the handler's type.
///
/// # Errors
/// A permanent error that says why the value cannot be written as JSON.
pub(crate) fn encode_output<T: Serialize + DeserializeOwned>(output: &T) -> Result<String, StepError> {
    json::encode(output).map_err(|reason| StepError::permanent(format!("the output {reason}")))
}

impl std::fmt::Debug for StepArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values are left out: they are the user's data and must not get into a log.
        let steps: Vec<usize> = self.deps.iter().map(|(step, _)| *step).collect();
        f.debug_struct("StepArgs")
            .field("has_input", &self.input.is_some())
            .field("has_item", &self.item.is_some())
            .field("deps", &steps)
            .finish()
    }
}
