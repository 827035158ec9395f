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

/// The error of a step enum's `FromStr`: a text that is no step's slug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownStep {
    found: String,
    near: Option<&'static str>,
}

impl UnknownStep {
    /// The text that is no slug.
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

/// Returns the step whose exact slug is `slug`.
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two steps, as the macro would make them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub(crate) enum Two {
        Reserve,
        Ship,
    }

    impl StepEnum for Two {
        const ALL: &'static [Self] = &[Self::Reserve, Self::Ship];

        fn as_str(self) -> &'static str {
            ["reserve", "ship"][self.index()]
        }

        fn index(self) -> usize {
            self as usize
        }
    }

    impl fmt::Display for Two {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.as_str())
        }
    }

    impl FromStr for Two {
        type Err = UnknownStep;

        fn from_str(slug: &str) -> Result<Self, UnknownStep> {
            find_step(slug)
        }
    }

    #[test]
    fn a_step_is_found_by_its_exact_slug() {
        assert_eq!(("reserve".parse(), "ship".parse()), (Ok(Two::Reserve), Ok(Two::Ship)));
        let error = "Ship".parse::<Two>().expect_err("another letter case");
        assert_eq!(error.found(), "Ship");
        assert_eq!(error.to_string(), "this flow has no step `Ship`; did you mean `ship`?");
        let error = "invoice".parse::<Two>().expect_err("no step");
        assert_eq!(error.to_string(), "this flow has no step `invoice`");
    }

    #[test]
    fn a_key_names_its_step() {
        let key: StepKey<(), u8> = StepKey::new("ship", 7);
        assert_eq!((key.slug(), key.index(), format!("{key:?}").as_str()), ("ship", 7, "StepKey(ship)"));
    }
}
