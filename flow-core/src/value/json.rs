//! Writes values as JSON text and reads them back, with errors that name the place and never the value.

use serde::{Serialize, de::DeserializeOwned};
use serde_path_to_error::{Path, Segment};

use super::finite::check_finite;

/// Writes a value as JSON text that reads back as the value's own type.
///
/// # Errors
/// The reason, as `cannot …`: the value cannot be written, holds a NaN or infinite float, or cannot be read back.
pub fn encode<T: Serialize + DeserializeOwned>(value: &T) -> Result<String, String> {
    let text = serde_json::to_string(value).map_err(|error| match error.is_syntax() {
        true => format!("cannot be written as JSON: {error}"),
        false => "cannot be written as JSON: its type's Serialize fails".to_owned(),
    })?;
    // serde_json writes NaN and infinity as null, and another type may read that null as an absent value.
    if text.contains("null") {
        check_finite(value)
            .map_err(|path| format!("cannot be written as JSON: {}a float is NaN or infinite", at(&path)))?;
    }
    match decode::<T>(&text) {
        Ok(_) => Ok(text),
        Err(reason) => Err(format!("cannot be read back from its own JSON: {reason}")),
    }
}

/// Reads JSON text as a value.
///
/// # Errors
/// The place and the reason, without the value.
pub fn decode<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json)
        .map_err(|error| format!("{}{}", at(error.path()), without_value(error.inner())))
}

/// The place as the beginning of a sentence; empty when the place is the whole value.
fn at(path: &Path) -> String {
    let place = place(path);
    if place.is_empty() { place } else { format!("at `{place}`, ") }
}

/// How many parts of a path are shown.
const DEEPEST: usize = 12;

/// A path for people. The keys of a map are the user's own data: what does not look like a field's name is left out.
fn place(path: &Path) -> String {
    let mut text = String::new();
    for (depth, segment) in path.iter().enumerate() {
        if depth == DEEPEST {
            return text + "…";
        }
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

/// The part of a serde error that speaks of the type; the part that quotes the value is left out.
fn without_value(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    let is_of_the_type = ["missing field ", "duplicate field ", "data did not match any variant of untagged enum "];
    if !error.is_data() || is_of_the_type.iter().any(|start| text.starts_with(start)) {
        return text.to_owned();
    }
    if text.starts_with("unknown field ") {
        return "the value has a field that the type does not know".to_owned();
    }
    match text.rsplit_once(", expected ") {
        Some((_, expected)) => format!("expected {expected}"),
        None => {
            "the type's Deserialize refuses the value (its message is left out, since it may hold the value)".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Point {
        x: f64,
        y: Option<f64>,
    }

    // F20
    #[test]
    fn a_value_that_would_not_come_back_is_refused_with_its_place() {
        let points = |y| vec![Point { x: 1.0, y: None }, Point { x: 2.0, y }];
        assert_eq!(
            encode(&points(Some(f64::INFINITY))).unwrap_err(),
            "cannot be written as JSON: at `[1].y`, a float is NaN or infinite"
        );
        assert!(encode(&points(Some(3.0))).unwrap().contains("null"));
        assert!(encode(&f32::NAN).unwrap_err().ends_with("a float is NaN or infinite"));
        let nested = (0..200).fold(json!(1), |inner, _| json!([inner]));
        let error = encode::<Value>(&nested).unwrap_err();
        assert!(error.starts_with("cannot be read back") && error.ends_with("…`, recursion limit exceeded"), "{error}");
        assert!(error.len() < 150, "{error}");
        let keys = std::collections::HashMap::from([((1, 2), 3)]);
        assert!(encode(&keys).is_err());
    }

    // F20
    #[test]
    fn every_finite_float_comes_back() {
        for number in [f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.1 + 0.2, 1.0 / 3.0, 8.988465674311579e307] {
            assert_eq!(decode::<f64>(&encode(&number).unwrap()), Ok(number));
        }
    }

    #[test]
    fn an_error_names_the_type_and_not_the_value() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Known {
            #[expect(dead_code)]
            id: u8,
        }
        #[derive(Debug, Deserialize)]
        #[serde(untagged)]
        enum Either {
            #[expect(dead_code)]
            Number(u8),
        }
        assert_eq!(decode::<Known>(r#"{"id": "secret"}"#).unwrap_err(), "at `id`, expected u8");
        assert_eq!(decode::<Known>("{}").unwrap_err(), "missing field `id`");
        assert_eq!(
            decode::<Known>(r#"{"a secret": 1}"#).unwrap_err(),
            "at `…`, the value has a field that the type does not know"
        );
        assert!(decode::<Either>(r#""secret""#).unwrap_err().contains("untagged enum Either"));
        assert_eq!(decode::<u8>("1e400").unwrap_err(), "number out of range");
    }
}
