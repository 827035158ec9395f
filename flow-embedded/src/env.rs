//! Environment variables.

/// The value of a variable; `None` when the variable is not set or empty.
pub(crate) fn env_value(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
