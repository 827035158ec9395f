//! Texts as SQL literals.

/// Writes a text as an SQL literal that has the same meaning whatever `standard_conforming_strings` is.
pub(crate) fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}
