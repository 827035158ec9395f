//! The elements of the list that a map runs over.

use std::marker::PhantomData;

use flow_core::{error::StepError, list::FlowList};
use serde::de::DeserializeOwned;

use super::stand_in;
use crate::args::StepArgs;

/// Compiles when `L` is a list.
pub fn is_list<L: FlowList>() {}

/// The elements of a list of type `L`. Where `L` is no list, or its elements do not decode, that is reported elsewhere,
/// and [`NoElements`] stands in.
pub struct Elements<L>(PhantomData<L>);

impl<L> Elements<L> {
    /// To call `take` on.
    #[must_use]
    pub const fn of() -> Self {
        Self(PhantomData)
    }
}

impl<L: FlowList> Elements<L>
where
    L::Item: DeserializeOwned,
{
    /// The element as the handler takes it.
    ///
    /// # Errors
    /// When the JSON does not decode.
    pub fn take<T: ElementIs<L::Item>>(&self, args: &StepArgs) -> Result<T, StepError> {
        args.item("item").map(T::from_element)
    }
}

/// Takes no element; see [`Elements`].
pub trait NoElements {
    /// Never runs.
    ///
    /// # Errors
    /// None.
    fn take<T>(&self, _: &StepArgs) -> Result<T, StepError> {
        stand_in()
    }
}

impl<L> NoElements for Elements<L> {}

/// The type `E`, which is that of a list's elements.
#[diagnostic::on_unimplemented(
    message = "this map runs over a list of `{E}`, so its `item` is `{E}`, not `{Self}`",
    label = "expected `{E}`"
)]
pub trait ElementIs<E> {
    /// The same value.
    fn from_element(element: E) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E> ElementIs<E> for E {
    fn from_element(element: E) -> Self {
        element
    }
}
