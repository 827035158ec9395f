//! Values on their way between JSON and the user's types.
//!
//! Every type is checked once, where the user wrote it. Everything else goes through [`Carrier`], whose methods are
//! silent for a type that failed its check: where the methods themselves are missing, those of [`NoCarrier`] are found.

use std::marker::PhantomData;

use flow_core::{definition::TypeContract, error::StepError, value::FlowValue};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, MapAccess},
    ser::SerializeMap,
};

use super::stand_in;
use crate::{
    args::{StepArgs, encode_output},
    handlers::StepResult,
};

/// Compiles when `T` can travel as JSON.
pub fn is_value<T: FlowValue>() {}

/// Carries values of type `T`.
pub struct Carrier<T>(PhantomData<T>);

impl<T> Carrier<T> {
    /// To call methods on.
    #[must_use]
    pub const fn of() -> Self {
        Self(PhantomData)
    }
}

/// What every method does is said by its name; the errors are those of the JSON.
#[expect(missing_docs, reason = "called by generated code only")]
impl<T: Serialize + DeserializeOwned + Send + 'static> Carrier<T> {
    pub fn contract<U: Described>(&self) -> TypeContract {
        U::contract()
    }

    pub fn dep(&self, args: &StepArgs, param: &'static str, step: usize) -> Result<T, StepError> {
        args.dep(param, step)
    }

    pub fn optional_dep(&self, args: &StepArgs, param: &'static str, step: usize) -> Result<Option<T>, StepError> {
        args.optional_dep(param, step)
    }

    pub fn input(&self, args: &StepArgs, param: &'static str) -> Result<T, StepError> {
        args.input(param)
    }

    pub fn encode(&self, output: &T) -> StepResult {
        encode_output(output)
    }

    pub fn read_field<'de, A: MapAccess<'de>>(&self, map: &mut A) -> Result<T, A::Error> {
        map.next_value()
    }

    pub fn write_field<S: SerializeMap>(&self, map: &mut S, key: &str, value: &T) -> Result<(), S::Error> {
        map.serialize_entry(key, value)
    }
}

/// Stands in for [`Carrier`]'s methods; never runs, since the type was refused.
#[expect(missing_docs, reason = "called by generated code only")]
pub trait NoCarrier {
    type Value;

    fn contract<U>(&self) -> TypeContract {
        stand_in()
    }

    fn dep(&self, _: &StepArgs, _: &'static str, _: usize) -> Result<Self::Value, StepError> {
        stand_in()
    }

    fn optional_dep(&self, _: &StepArgs, _: &'static str, _: usize) -> Result<Option<Self::Value>, StepError> {
        stand_in()
    }

    fn input(&self, _: &StepArgs, _: &'static str) -> Result<Self::Value, StepError> {
        stand_in()
    }

    fn encode(&self, _: &Self::Value) -> StepResult {
        stand_in()
    }

    fn read_field<'de, A: MapAccess<'de>>(&self, _: &mut A) -> Result<Self::Value, A::Error> {
        stand_in()
    }

    fn write_field<S: SerializeMap>(&self, _: &mut S, _: &str, _: &Self::Value) -> Result<(), S::Error> {
        stand_in()
    }
}

impl<T> NoCarrier for Carrier<T> {
    type Value = T;
}

/// A type with a JSON Schema.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON Schema",
    label = "`schemars::JsonSchema` is not implemented",
    note = "derive it: `#[derive(schemars::JsonSchema)]`",
    note = "for a type that is not yours say `schema = any` on the step, or `input_schema = any` on the flow"
)]
pub trait Described {
    /// The contract.
    fn contract() -> TypeContract;
}

#[diagnostic::do_not_recommend]
impl<T: schemars::JsonSchema> Described for T {
    fn contract() -> TypeContract {
        TypeContract::of::<T>()
    }
}

/// The name of a field that is being read.
pub struct FieldName(pub String);

impl<'de> Deserialize<'de> for FieldName {
    fn deserialize<D: Deserializer<'de>>(name: D) -> Result<Self, D::Error> {
        String::deserialize(name).map(Self)
    }
}
