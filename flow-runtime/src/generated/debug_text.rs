//! The `Debug` text of a flow's output. Outputs of leaves whose types do not implement `Debug` show as `..`.

use std::fmt;

/// A leaf's output.
pub struct Shown<'a, T>(pub &'a T);

impl<'a, T: fmt::Debug> Shown<'a, T> {
    /// The value's own text.
    #[must_use]
    pub fn shown(self) -> &'a dyn fmt::Debug {
        self.0
    }
}

/// Has the method of [`Shown`] for types without `Debug`.
pub trait ShownAnyhow: Sized {
    /// The text `..`.
    fn shown(self) -> &'static dyn fmt::Debug {
        &Hidden
    }
}

impl<T> ShownAnyhow for Shown<'_, T> {}

/// The `Debug` text of an output struct.
///
/// # Errors
/// The errors of the formatter.
pub fn show_output(
    f: &mut fmt::Formatter<'_>,
    name: &'static str,
    fields: &[(&'static str, &dyn fmt::Debug)],
) -> fmt::Result {
    let mut shown = f.debug_struct(name);
    for (field, value) in fields {
        shown.field(field, value);
    }
    shown.finish()
}

struct Hidden;

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}
