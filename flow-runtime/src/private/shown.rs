//! The outputs of leaves in the `Debug` text of a flow's output, whether or not their types have one.

use std::fmt;

/// A leaf's output.
pub struct Shown<'a, T>(pub &'a T);

impl<T: fmt::Debug> Shown<'_, T> {
    /// The value's own text.
    #[must_use]
    pub fn shown(&self) -> &dyn fmt::Debug {
        self.0
    }
}

/// Stands in for types without `Debug`.
pub trait ShownAnyhow {
    /// `..`
    fn shown(&self) -> &dyn fmt::Debug {
        &Hidden
    }
}

impl<T> ShownAnyhow for Shown<'_, T> {}

struct Hidden;

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}
