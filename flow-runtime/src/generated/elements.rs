//! The elements of the list that a map runs over.

use std::marker::PhantomData;

use flow_core::{error::StepError, list::FlowList, value::FlowValue};
use serde::de::DeserializeOwned;

use crate::{generated::stand_in::stand_in_of, handler::args::StepArgs};

/// Compiles when `L` is a list.
pub fn is_list<L: FlowList>() {}

/// The elements of a list of type `L`. For a type that is no list, or that cannot be written and read as JSON, [`is_list`] or the check of
/// values reports the mistake, and the method of [`NoElements`] is used.
pub struct Elements<L>(PhantomData<L>);

impl<L> Elements<L> {
    /// Makes a value to call `take` on.
    #[must_use]
    pub const fn of() -> Self {
        Self(PhantomData)
    }
}

impl<L: FlowList + FlowValue> Elements<L> {
    /// Decodes the task's element into the type of the handler's parameter.
    ///
    /// # Errors
    /// When the JSON does not decode.
    pub fn take<T: ElementIs<L::Item> + Element>(self, args: &StepArgs) -> Result<T, StepError> {
        T::decode(args)
    }
}

/// Has the method of [`Elements`] for a type that is no list.
pub trait NoElements: Sized {
    /// Never runs.
    ///
    /// # Errors
    /// None.
    fn take<T>(self, _: &StepArgs) -> Result<T, StepError> {
        stand_in_of::<Self, _>()
    }
}

impl<L> NoElements for Elements<L> {}

/// The type `E` of a list's elements.
#[diagnostic::on_unimplemented(
    message = "this map runs over a list of `{E}`, so its `item` is `{E}`, not `{Self}`",
    label = "expected `{E}`"
)]
pub trait ElementIs<E> {}

impl<E> ElementIs<E> for E {}

/// A type that is read from one element of a JSON array.
#[diagnostic::on_unimplemented(
    message = "the elements of this list cannot be read from JSON, since `{Self}` does not implement `serde::Deserialize`",
    label = "`serde::Deserialize` is not implemented",
    note = "derive it: `#[derive(serde::Deserialize)]`"
)]
pub trait Element: Sized {
    /// Decodes the task's element.
    ///
    /// # Errors
    /// When the JSON does not decode.
    fn decode(args: &StepArgs) -> Result<Self, StepError>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> Element for T {
    fn decode(args: &StepArgs) -> Result<Self, StepError> {
        args.item("item")
    }
}
