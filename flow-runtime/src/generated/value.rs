//! Converts values between JSON and the user's types.
//!
//! Each type is checked once, at the place where the user wrote the type. All other generated code uses [`Carrier`]. For a type that
//! failed its check `Carrier` has no methods, and the compiler finds those of [`NoCarrier`], so no second error is reported.

use std::marker::PhantomData;

use flow_core::{definition::TypeContract, error::StepError, value::FlowValue};
use serde::{
    Serialize, Serializer,
    de::{DeserializeOwned, MapAccess},
};

use crate::{
    generated::{output::OutputWriter, stand_in::stand_in_of},
    handler::args::StepArgs,
};

/// The contract of a type without a JSON Schema.
#[must_use]
pub fn any_contract() -> TypeContract {
    TypeContract::any()
}

/// Compiles when `T` can be written and read as JSON.
pub fn is_value<T: FlowValue>() {}

/// Carries values of type `T`.
pub struct Carrier<T>(PhantomData<T>);

impl<T> Carrier<T> {
    /// Makes a value to call the methods on.
    #[must_use]
    pub const fn of() -> Self {
        Self(PhantomData)
    }
}

/// The methods decode arguments, and read and write fields of outputs. Their errors are those of the JSON.
#[expect(missing_docs, reason = "called by generated code only")]
impl<T: Serialize + DeserializeOwned + Send + 'static> Carrier<T> {
    pub fn contract<U: Described>(self) -> fn() -> TypeContract {
        U::contract
    }

    pub fn dep(self, args: &StepArgs, param: &'static str, step: usize) -> Result<T, StepError> {
        args.dep(param, step)
    }

    pub fn optional_dep(self, args: &StepArgs, param: &'static str, step: usize) -> Result<Option<T>, StepError> {
        args.optional_dep(param, step)
    }

    pub fn input(self, args: &StepArgs, param: &'static str) -> Result<T, StepError> {
        args.input(param)
    }

    pub fn read_field<'de, A: MapAccess<'de>>(self, map: &mut A) -> Result<Option<T>, A::Error> {
        map.next_value().map(Some)
    }

    pub fn write_field<S: Serializer>(
        self,
        output: &mut OutputWriter<S>,
        slug: &'static str,
        value: &T,
    ) -> Result<(), S::Error> {
        output.write(slug, value)
    }
}

/// Has the methods of [`Carrier`] for a type that failed its check. The methods are never built, since the program does not compile.
#[expect(missing_docs, reason = "called by generated code only")]
pub trait NoCarrier: Sized {
    type Value;

    fn contract<U>(self) -> fn() -> TypeContract {
        stand_in_of::<Self, _>()
    }

    fn dep(self, _: &StepArgs, _: &'static str, _: usize) -> Result<Self::Value, StepError> {
        stand_in_of::<Self, _>()
    }

    fn optional_dep(self, _: &StepArgs, _: &'static str, _: usize) -> Result<Option<Self::Value>, StepError> {
        stand_in_of::<Self, _>()
    }

    fn input(self, _: &StepArgs, _: &'static str) -> Result<Self::Value, StepError> {
        stand_in_of::<Self, _>()
    }

    fn read_field<'de, A: MapAccess<'de>>(self, _: &mut A) -> Result<Option<Self::Value>, A::Error> {
        stand_in_of::<Self, _>()
    }

    fn write_field<S: Serializer>(
        self,
        _: &mut OutputWriter<S>,
        _: &'static str,
        _: &Self::Value,
    ) -> Result<(), S::Error> {
        stand_in_of::<Self, _>()
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
    /// The type's contract.
    fn contract() -> TypeContract;
}

#[diagnostic::do_not_recommend]
impl<T: schemars::JsonSchema> Described for T {
    fn contract() -> TypeContract {
        TypeContract::of::<T>()
    }
}
