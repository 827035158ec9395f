//! The versions to which this program brings a database: its interface, its functions and its migrations.

/// The number of the SQL interface that this program uses.
pub(crate) const INTERFACE: i32 = 1;

/// The version of [`FUNCTIONS`](super::functions::FUNCTIONS). A program with a lower version leaves the functions of a database as they
/// are.
///
/// A change of any function or migration must raise this version: a test compares the fingerprint of both with `version.txt`.
pub(super) const FUNCTIONS_VERSION: i32 = 10;

/// Numbered migrations, in order; the first has version 1.
pub(super) const MIGRATIONS: &[&str] = &[include_str!("../../../migrations/0001_engine.sql")];
