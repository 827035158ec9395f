//! How the output of a run is read and written, a field at a time.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserializer, Serialize, Serializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
    ser::SerializeMap,
};

/// An output struct, which reads its fields by the slugs of their steps.
pub trait OutputFields: Sized {
    /// Reads every field.
    ///
    /// # Errors
    /// Those of the values, and of a field that is missing.
    fn read<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error>;
}

/// Reads an output struct.
///
/// # Errors
/// Those of [`OutputFields::read`].
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

/// The slug of the next field.
///
/// # Errors
/// When it is no text.
pub fn next_field<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<String>, A::Error> {
    map.next_key()
}

/// Passes over the value of a field that is no leaf's.
///
/// # Errors
/// When it is no JSON.
pub fn skip_field<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(drop)
}

/// The value of a field that is always there.
///
/// # Errors
/// When it is not.
pub fn required_field<T, E: Error>(value: Option<T>, slug: &'static str) -> Result<T, E> {
    value.ok_or_else(|| E::missing_field(slug))
}

/// Writes the fields of an output struct.
pub struct OutputWriter<S: Serializer>(S::SerializeMap);

impl<S: Serializer> OutputWriter<S> {
    /// Writes one field.
    ///
    /// # Errors
    /// Those of the value.
    pub fn write<T: Serialize>(&mut self, slug: &'static str, value: &T) -> Result<(), S::Error> {
        self.0.serialize_entry(slug, value)
    }
}

/// Writes an output struct, whose fields `fields` writes.
///
/// # Errors
/// Those of the values.
pub fn write_output<S: Serializer>(
    serializer: S,
    fields: impl FnOnce(&mut OutputWriter<S>) -> Result<(), S::Error>,
) -> Result<S::Ok, S::Error> {
    let mut writer = OutputWriter::<S>(serializer.serialize_map(None)?);
    fields(&mut writer)?;
    writer.0.end()
}
