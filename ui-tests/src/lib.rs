//! Holds the ui tests; see `tests/`.
