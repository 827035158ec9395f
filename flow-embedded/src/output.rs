//! Shortens what programs print, for error texts.

/// The last four lines of a program's output that are not empty, on one line.
pub(crate) fn last_lines(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).rev().take(4).collect();
    lines.reverse();
    if lines.is_empty() { "it printed nothing".into() } else { lines.join(" | ") }
}
