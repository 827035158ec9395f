//! Types whose JSON is a list, so that a map can run over them.

use std::collections::{BTreeSet, HashSet, VecDeque};

/// A type that is a JSON array of [`FlowList::Item`]s; the source of a map has such a type.
///
/// Implement this trait for a list type of your own that serialises as an array.
#[diagnostic::on_unimplemented(
    message = "a map needs a list to run over, and `{Self}` is none",
    label = "not a list",
    note = "a map over a part of a value is a map over a step that returns that part",
    note = "lists are `Vec`, `VecDeque`, `BTreeSet`, `HashSet`, `[T; N]`, `Box<[T]>` and what implements `FlowList`"
)]
pub trait FlowList {
    /// The type of one element. A map takes an element as `item`, and there the type must implement `serde::Deserialize`.
    type Item;
}

impl<T> FlowList for Vec<T> {
    type Item = T;
}

impl<T> FlowList for VecDeque<T> {
    type Item = T;
}

impl<T> FlowList for BTreeSet<T> {
    type Item = T;
}

impl<T, S> FlowList for HashSet<T, S> {
    type Item = T;
}

impl<T, const N: usize> FlowList for [T; N] {
    type Item = T;
}

impl<T> FlowList for Box<[T]> {
    type Item = T;
}
