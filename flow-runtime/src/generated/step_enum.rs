//! Implements the traits of a step enum.

use flow_core::step::{StepEnum, find_step};

/// Decodes a step enum from its slug.
///
/// # Errors
/// When the text is no step's slug.
pub fn deserialize_step<'de, S: StepEnum, D: serde::Deserializer<'de>>(slug: D) -> Result<S, D::Error> {
    let slug: std::borrow::Cow<'de, str> = serde::Deserialize::deserialize(slug)?;
    find_step(&slug).map_err(serde::de::Error::custom)
}

/// Implements the traits of a step enum by means of its own `ALL`, `as_str` and `index`.
#[macro_export]
#[doc(hidden)]
macro_rules! __step_enum {
    ($name:ident) => {
        #[automatically_derived]
        impl $crate::generated::StepEnum for $name {
            const ALL: &'static [Self] = $name::ALL;

            fn as_str(self) -> &'static $crate::generated::str {
                $name::as_str(self)
            }

            fn index(self) -> $crate::generated::usize {
                $name::index(self)
            }
        }

        /// In step order.
        #[automatically_derived]
        impl $crate::generated::PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> $crate::generated::Option<$crate::generated::Ordering> {
                $crate::generated::Some($crate::generated::Ord::cmp(self, other))
            }
        }

        /// In step order.
        #[automatically_derived]
        impl $crate::generated::Ord for $name {
            fn cmp(&self, other: &Self) -> $crate::generated::Ordering {
                $crate::generated::Ord::cmp(&$name::index(*self), &$name::index(*other))
            }
        }

        #[automatically_derived]
        impl $crate::generated::fmt::Display for $name {
            fn fmt(&self, f: &mut $crate::generated::fmt::Formatter<'_>) -> $crate::generated::fmt::Result {
                f.pad($name::as_str(*self))
            }
        }

        #[automatically_derived]
        impl $crate::generated::FromStr for $name {
            type Err = $crate::generated::UnknownStep;

            // The error type is written out, because `Self::Err` may also name a step.
            fn from_str(
                slug: &$crate::generated::str,
            ) -> $crate::generated::Result<Self, $crate::generated::UnknownStep> {
                $crate::generated::find_step(slug)
            }
        }

        #[automatically_derived]
        impl $crate::generated::serde::Serialize for $name {
            fn serialize<S: $crate::generated::serde::Serializer>(
                &self,
                serializer: S,
            ) -> $crate::generated::Result<S::Ok, S::Error> {
                serializer.serialize_str($name::as_str(*self))
            }
        }

        #[automatically_derived]
        impl<'de> $crate::generated::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::generated::serde::Deserializer<'de>>(
                slug: D,
            ) -> $crate::generated::Result<Self, D::Error> {
                $crate::generated::deserialize_step(slug)
            }
        }
    };
}
