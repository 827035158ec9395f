//! The arguments of one task, as JSON text that is shared between tasks and decoded by its handler.

use std::sync::Arc;

use flow_core::error::StepError;
use serde::{Serialize, de::DeserializeOwned};
use serde_path_to_error::{Path, Segment};

/// What one task's handler is called with. Values stay JSON text until the handler asks for its types.
#[derive(Clone, Default)]
pub struct StepArgs {
    /// The run's input, when the step takes it.
    pub(crate) input: Option<Arc<str>>,
    /// The element, in a map.
    pub(crate) item: Option<Arc<str>>,
    /// Outputs of completed dependencies, by step index.
    pub(crate) deps: Vec<(usize, Arc<str>)>,
}

impl StepArgs {
    /// The run's input, for parameter `param`.
    ///
    /// # Errors
    /// A permanent error that names the parameter and the JSON path, and no value.
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

/// Decodes `text` for parameter `param`; the error names the place and never the value.
fn decode<T: DeserializeOwned>(param: &str, text: Option<&str>) -> Result<T, StepError> {
    let text = text.ok_or_else(|| StepError::permanent(format!("parameter `{param}` has no value in this run")))?;
    decode_json(text).map_err(|reason| {
        let wanted = std::any::type_name::<T>();
        StepError::permanent(format!("parameter `{param}` does not decode into `{wanted}`: {reason}"))
    })
}

/// Decodes `text`; the reason of a failure names the place and never the value.
pub(crate) fn decode_json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = place(error.path());
        let reason = without_value(&error.inner().to_string());
        if path.is_empty() { reason } else { format!("at `{path}`, {reason}") }
    })
}

/// A path for people. The keys of a map are the user's own data: what does not look like a field's name is left out.
fn place(path: &Path) -> String {
    let mut text = String::new();
    for segment in path {
        let dot = if text.is_empty() { "" } else { "." };
        match segment {
            Segment::Seq { index } => text += &format!("[{index}]"),
            Segment::Map { key } if is_field_name(key) => text += &format!("{dot}{key}"),
            Segment::Enum { variant } if is_field_name(variant) => text += &format!("{dot}{variant}"),
            _ => text += &format!("{dot}…"),
        }
    }
    text
}

fn is_field_name(key: &str) -> bool {
    key.len() <= 40
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !key.starts_with(|c: char| c.is_ascii_digit())
}

/// The part of a serde error that speaks of the type and not of the value.
fn without_value(error: &str) -> String {
    let error = error.rsplit_once(" at line ").map_or(error, |(text, _)| text);
    if error.starts_with("missing field ") || error.starts_with("duplicate field ") {
        return error.to_owned();
    }
    match error.rsplit_once(", expected ") {
        Some((_, expected)) => format!("expected {expected}"),
        None => "the type itself refused the value".to_owned(),
    }
}

/// A handler's output as JSON text.
///
/// # Errors
/// A permanent error when the value cannot be written as JSON.
pub(crate) fn encode_output<T: Serialize>(output: &T) -> Result<String, StepError> {
    serde_json::to_string(output).map_err(|_| {
        StepError::permanent("the output cannot be written as JSON; its type's Serialize fails".to_owned())
    })
}
