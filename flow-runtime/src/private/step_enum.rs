//! The traits of a step enum.

use flow_core::step::{StepEnum, find_step};

/// Decodes a step enum from its slug.
///
/// # Errors
/// When the text is no step's slug.
pub fn deserialize_step<'de, S: StepEnum, D: serde::Deserializer<'de>>(slug: D) -> Result<S, D::Error> {
    let slug: std::borrow::Cow<'de, str> = serde::Deserialize::deserialize(slug)?;
    find_step(&slug).map_err(serde::de::Error::custom)
}

/// The traits of a step enum, through its own `ALL`, `as_str` and `index`.
#[macro_export]
#[doc(hidden)]
macro_rules! __step_enum {
    ($name:ident) => {
        #[automatically_derived]
        impl $crate::__private::StepEnum for $name {
            const ALL: &'static [Self] = $name::ALL;

            fn as_str(self) -> &'static $crate::__private::str {
                $name::as_str(self)
            }

            fn index(self) -> $crate::__private::usize {
                $name::index(self)
            }
        }

        /// In step order.
        #[automatically_derived]
        impl $crate::__private::PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> $crate::__private::Option<$crate::__private::Ordering> {
                $crate::__private::Some($crate::__private::Ord::cmp(self, other))
            }
        }

        /// In step order.
        #[automatically_derived]
        impl $crate::__private::Ord for $name {
            fn cmp(&self, other: &Self) -> $crate::__private::Ordering {
                $crate::__private::Ord::cmp(&$name::index(*self), &$name::index(*other))
            }
        }

        #[automatically_derived]
        impl $crate::__private::fmt::Display for $name {
            fn fmt(&self, f: &mut $crate::__private::fmt::Formatter<'_>) -> $crate::__private::fmt::Result {
                f.pad($name::as_str(*self))
            }
        }

        #[automatically_derived]
        impl $crate::__private::FromStr for $name {
            type Err = $crate::__private::UnknownStep;

            // Not `Self::Err`, which may also be a step.
            fn from_str(
                slug: &$crate::__private::str,
            ) -> $crate::__private::Result<Self, $crate::__private::UnknownStep> {
                $crate::__private::find_step(slug)
            }
        }

        #[automatically_derived]
        impl $crate::__private::serde::Serialize for $name {
            fn serialize<S: $crate::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> $crate::__private::Result<S::Ok, S::Error> {
                serializer.serialize_str($name::as_str(*self))
            }
        }

        #[automatically_derived]
        impl<'de> $crate::__private::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::__private::serde::Deserializer<'de>>(
                slug: D,
            ) -> $crate::__private::Result<Self, D::Error> {
                $crate::__private::deserialize_step(slug)
            }
        }
    };
}
