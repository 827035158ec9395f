//! The `#[flow]` attribute.
