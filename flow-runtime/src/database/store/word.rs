//! Reads words of the database (statuses, states, verdicts and reasons) as enums.

use serde::{
    Deserialize,
    de::{IntoDeserializer, value::Error},
};
use sqlx::{
    Decode, Postgres, Type,
    error::BoxDynError,
    postgres::{PgHasArrayType, PgTypeInfo, PgValueRef},
};

/// A text column that holds one of the words of `T`. Reading a word that `T` does not have is an error that names the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<T>(pub(crate) T);

impl<'r, T: Deserialize<'r>> Decode<'r, Postgres> for Word<T> {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        let word = <&str as Decode<Postgres>>::decode(value)?;
        let read: Result<T, Error> = T::deserialize(word.into_deserializer());
        read.map(Self).map_err(|error| {
            format!("the database answered with a word that this program does not know: {error}").into()
        })
    }
}

impl<T> Type<Postgres> for Word<T> {
    fn type_info() -> PgTypeInfo {
        <str as Type<Postgres>>::type_info()
    }

    fn compatible(column: &PgTypeInfo) -> bool {
        <str as Type<Postgres>>::compatible(column)
    }
}

impl<T> PgHasArrayType for Word<T> {
    fn array_type_info() -> PgTypeInfo {
        <&str as PgHasArrayType>::array_type_info()
    }

    fn array_compatible(column: &PgTypeInfo) -> bool {
        <&str as PgHasArrayType>::array_compatible(column)
    }
}

/// The words of an array column; none for SQL null.
pub(super) fn words<T>(column: Option<Vec<Word<T>>>) -> impl Iterator<Item = T> {
    column.into_iter().flatten().map(|Word(word)| word)
}
