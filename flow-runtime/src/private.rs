//! What generated code may name. Not part of the public interface: it changes with the macros.

use std::future::Future;

pub use std::{
    clone::Clone,
    cmp::{Eq, PartialEq},
    fmt::Debug,
    hash::Hash,
    marker::{Copy, Sized},
    option::Option::{self, None, Some},
    prelude::v1::derive,
    result::Result,
    sync::Arc,
    vec::Vec,
};

use crate::args::encode_output;
pub use crate::{
    args::StepArgs,
    context::StepContext,
    handlers::{Handlers, StepCall, StepResult},
};
use flow_core::error::IntoStepError;
pub use flow_core::{
    definition::{FlowDefinition, TypeContract},
    error::StepError,
    flow::Flow,
    list::FlowList,
    private::*,
    step::*,
};
pub use schemars;
pub use serde;
pub use serde_json;

/// Ties a flow's step with index `INDEX` to the type that its handler returns.
pub trait StepOutput<const INDEX: usize> {
    /// What the handler returns: a step's output, or one element's in a map.
    type Output: serde::Serialize + serde::de::DeserializeOwned + Send + 'static;

    /// Its contract.
    fn contract() -> TypeContract;
}

/// Ends an attempt: the output becomes JSON text, the error a [`StepError`].
///
/// # Errors
/// The handler's error, or that of an output that is no JSON.
pub fn finish<F: StepOutput<INDEX>, const INDEX: usize, E: IntoStepError>(result: Result<F::Output, E>) -> StepResult {
    result.map_err(IntoStepError::into_step_error).and_then(|output| encode_output(&output))
}

/// The call of an `async fn`.
pub fn call_async(call: impl Future<Output = StepResult> + Send + 'static) -> StepCall {
    StepCall::Async(Box::pin(call))
}

/// The call of a `blocking` handler.
pub fn call_blocking(call: impl FnOnce() -> StepResult + Send + 'static) -> StepCall {
    StepCall::Blocking(Box::new(call))
}

/// Decodes a leaf that is there, so that JSON `null` is its value and not its absence.
///
/// # Errors
/// Those of the value.
pub fn present<'de, T: serde::Deserialize<'de>, D: serde::Deserializer<'de>>(value: D) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

/// Decodes a step enum from its slug.
///
/// # Errors
/// When the text is no step's slug.
pub fn deserialize_step<'de, S: StepEnum, D: serde::Deserializer<'de>>(slug: D) -> Result<S, D::Error> {
    let slug: std::borrow::Cow<'de, str> = serde::Deserialize::deserialize(slug)?;
    find_step(&slug).map_err(serde::de::Error::custom)
}

/// Stands where a flow with mistakes would have code; such a program does not compile, so it never runs.
///
/// # Panics
/// Always.
pub fn stand_in<T>() -> T {
    unreachable!("a flow with mistakes does not compile")
}

/// The traits of a step enum, through its own `ALL`, `as_str` and `index`.
#[macro_export]
#[doc(hidden)]
macro_rules! __step_enum {
    ($name:ident) => {
        #[automatically_derived]
        impl $crate::__private::StepEnum for $name {
            const ALL: &'static [Self] = $name::ALL;

            fn as_str(self) -> &'static str {
                $name::as_str(self)
            }

            fn index(self) -> usize {
                $name::index(self)
            }
        }

        #[automatically_derived]
        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad($name::as_str(*self))
            }
        }

        #[automatically_derived]
        impl ::core::str::FromStr for $name {
            type Err = $crate::__private::UnknownStep;

            fn from_str(slug: &str) -> ::core::result::Result<Self, Self::Err> {
                $crate::__private::find_step(slug)
            }
        }

        #[automatically_derived]
        impl $crate::__private::serde::Serialize for $name {
            fn serialize<S: $crate::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                serializer.serialize_str($name::as_str(*self))
            }
        }

        #[automatically_derived]
        impl<'de> $crate::__private::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::__private::serde::Deserializer<'de>>(
                slug: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::__private::deserialize_step(slug)
            }
        }
    };
}
pub use crate::__step_enum as step_enum;
