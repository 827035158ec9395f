//! The versions of what a program brings a database to.

/// The number of the SQL interface this program speaks.
pub(crate) const INTERFACE: i32 = 1;

/// The version of [`FUNCTIONS`](super::functions::FUNCTIONS). A program with a lower one leaves the functions of a database as they are.
///
/// A change of any function or migration comes with a higher one: a test compares them with `version.txt`.
pub(super) const FUNCTIONS_VERSION: i32 = 8;

/// Numbered migrations, in order; the first has version 1.
pub(super) const MIGRATIONS: &[&str] = &[include_str!("../../../migrations/0001_engine.sql")];
