//! The values that travel as JSON: a run's input and the steps' outputs.

mod finite;
#[doc(hidden)]
pub mod json;

use serde::{Serialize, de::DeserializeOwned, ser::Error};

/// A value that travels through the database as JSON: a run's input, or a step's output.
///
/// Implemented for every type that implements `serde::Serialize` and `serde::Deserialize`, owns its data and is `Send`.
// The serde traits are not supertraits, so that a type that lacks them gives one compile error instead of one for each trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel as JSON",
    label = "lacks `Serialize` or `Deserialize`, or borrows, or is not `Send`",
    note = "the input of a flow and the outputs of its steps are stored as JSON",
    note = "derive the traits: `#[derive(serde::Serialize, serde::Deserialize)]`, and `schemars::JsonSchema` too"
)]
pub trait FlowValue: Sized + Send + 'static {
    /// Writes the value as JSON text that reads back as this type.
    ///
    /// # Errors
    /// When the value cannot be written as JSON (a map whose keys are not strings, a float that is NaN or infinite) or
    /// cannot be read back.
    fn to_json(&self) -> serde_json::Result<String>;

    /// Reads a value from JSON text.
    ///
    /// # Errors
    /// When the text does not decode.
    fn from_json(text: &str) -> serde_json::Result<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> FlowValue for T {
    fn to_json(&self) -> serde_json::Result<String> {
        json::encode(self).map_err(serde_json::Error::custom)
    }

    fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_goes_into_text_and_comes_back() {
        let value = vec![Some("a".to_owned()), None];
        let text = value.to_json().expect("writes");
        assert_eq!(text, r#"["a",null]"#);
        assert_eq!(<Vec<Option<String>>>::from_json(&text).expect("reads"), value);
        assert!(u8::from_json("256").is_err());
        let by_pair = std::collections::BTreeMap::from([((1, 2), 3)]);
        assert!(serde_json::to_string(&by_pair).is_err(), "no text has such keys");
    }
}
