//! Reads and writes the output of a run, one field for each leaf step.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserializer, Serialize, Serializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
    ser::SerializeMap,
};

/// An output struct, whose fields are read by the slugs of their steps.
pub trait OutputFields: Sized {
    /// Reads every field.
    ///
    /// # Errors
    /// The errors of the values, and the error of a missing field.
    fn read<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error>;
}

/// Reads an output struct.
///
/// # Errors
/// The errors of [`OutputFields::read`].
pub fn read_output<'de, T: OutputFields, D: Deserializer<'de>>(output: D) -> Result<T, D::Error> {
    output.deserialize_map(Reader(PhantomData))
}

struct Reader<T>(PhantomData<T>);

impl<'de, T: OutputFields> Visitor<'de> for Reader<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the outputs of a run")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        T::read(&mut map)
    }
}

/// Reads the slug of the next field.
///
/// # Errors
/// When the slug is no text.
pub fn next_field<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<String>, A::Error> {
    map.next_key()
}

/// Skips the value of a field that belongs to no leaf.
///
/// # Errors
/// When the value is no JSON.
pub fn skip_field<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(drop)
}

/// Returns the value of a field that must be there.
///
/// # Errors
/// When the field is missing.
pub fn required_field<T, E: Error>(value: Option<T>, slug: &'static str) -> Result<T, E> {
    value.ok_or_else(|| E::missing_field(slug))
}

/// Writes the fields of an output struct.
pub struct OutputWriter<S: Serializer>(S::SerializeMap);

impl<S: Serializer> OutputWriter<S> {
    /// Writes one field.
    ///
    /// # Errors
    /// The errors of the value.
    pub fn write<T: Serialize>(&mut self, slug: &'static str, value: &T) -> Result<(), S::Error> {
        self.0.serialize_entry(slug, value)
    }
}

/// Writes an output struct, whose fields `fields` writes.
///
/// # Errors
/// The errors of the values.
pub fn write_output<S: Serializer>(
    serializer: S,
    fields: impl FnOnce(&mut OutputWriter<S>) -> Result<(), S::Error>,
) -> Result<S::Ok, S::Error> {
    let mut writer = OutputWriter::<S>(serializer.serialize_map(None)?);
    fields(&mut writer)?;
    writer.0.end()
}
