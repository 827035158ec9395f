//! Steps as types: the enum of a flow's steps and the key that names one step with its output type.

use std::{fmt, hash::Hash, marker::PhantomData, str::FromStr};

use crate::near::near_miss;

/// The steps of one flow, in step order. Implemented by the enum that `#[flow]` makes.
pub trait StepEnum: Copy + Eq + Hash + fmt::Debug + fmt::Display + FromStr + Send + Sync + 'static {
    /// Every step, in step order.
    const ALL: &'static [Self];

    /// The step's exact slug.
    fn as_str(self) -> &'static str;

    /// The step's place in step order, from 0.
    fn index(self) -> usize;
}

/// A text that is no step's slug; the error of a step enum's `FromStr`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownStep {
    found: String,
    near: Option<&'static str>,
}

impl UnknownStep {
    /// The text.
    pub fn found(&self) -> &str {
        &self.found
    }
}

impl fmt::Display for UnknownStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this flow has no step `{}`", self.found)?;
        self.near.map_or(Ok(()), |near| write!(f, "; did you mean `{near}`?"))
    }
}

impl std::error::Error for UnknownStep {}

/// The step whose exact slug is `slug`.
///
/// # Errors
/// When no step has this slug; the error names the step that was probably meant.
pub fn find_step<S: StepEnum>(slug: &str) -> Result<S, UnknownStep> {
    S::ALL.iter().copied().find(|step| step.as_str() == slug).ok_or_else(|| UnknownStep {
        found: slug.to_owned(),
        near: near_miss(slug, S::ALL.iter().map(|step| step.as_str())),
    })
}

/// Names one step of flow `F` and the type `T` of its output, as in `FulfilOrder::SHIP`.
pub struct StepKey<F, T> {
    slug: &'static str,
    index: usize,
    types: PhantomData<fn() -> (F, T)>,
}

impl<F, T> StepKey<F, T> {
    #[doc(hidden)]
    pub const fn new(slug: &'static str, index: usize) -> Self {
        Self { slug, index, types: PhantomData }
    }

    /// The step's exact slug.
    pub const fn slug(&self) -> &'static str {
        self.slug
    }

    /// The step's place in step order, from 0.
    pub const fn index(&self) -> usize {
        self.index
    }
}

impl<F, T> Clone for StepKey<F, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, T> Copy for StepKey<F, T> {}

impl<F, T> fmt::Debug for StepKey<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StepKey({})", self.slug)
    }
}
