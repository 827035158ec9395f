//! Counting Rust files, their lines, and the keyword `unsafe` in them.

use std::{fs, path::Path};

use anyhow::Context;

use super::package::Totals;

/// Counts over all Rust files in a folder and below. Links are not followed.
pub(super) fn count(folder: &Path) -> anyhow::Result<Totals> {
    let in_words = || format!("cannot read `{}`", folder.display());
    let mut totals = Totals::default();
    for entry in fs::read_dir(folder).with_context(in_words)? {
        let entry = entry.with_context(in_words)?;
        let path = entry.path();
        let kind = entry.file_type().with_context(in_words)?;
        if kind.is_dir() {
            totals += count(&path)?;
        } else if kind.is_file() && path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
            totals += Totals { files: 1, lines: count_lines(&text), unsafe_uses: count_unsafe(&text) };
        }
    }
    Ok(totals)
}

fn count_lines(text: &[u8]) -> u64 {
    text.split_inclusive(|byte| *byte == b'\n').count() as u64
}

/// Counts the word `unsafe` outside of comments, strings and characters.
fn count_unsafe(text: &[u8]) -> u64 {
    let mut count = 0;
    let mut rest = text;
    let mut is_in_word = false;
    while let Some(&byte) = rest.first() {
        let skip = match byte {
            b'/' if rest.starts_with(b"//") => line_comment(rest),
            b'/' if rest.starts_with(b"/*") => block_comment(rest),
            b'"' => string(rest),
            b'r' | b'b' | b'c' if !is_in_word => prefixed_string(rest),
            b'\'' => character(rest),
            _ => 0,
        };
        if skip > 0 {
            rest = &rest[skip..];
            is_in_word = false;
            continue;
        }
        let is_word = is_word_byte(byte);
        if is_word && !is_in_word {
            let word = &rest[..rest.iter().position(|byte| !is_word_byte(*byte)).unwrap_or(rest.len())];
            count += u64::from(word == b"unsafe");
        }
        is_in_word = is_word;
        rest = &rest[1..];
    }
    count
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn line_comment(text: &[u8]) -> usize {
    text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len())
}

/// Block comments nest.
fn block_comment(text: &[u8]) -> usize {
    let (mut at, mut depth) = (2, 1);
    while at < text.len() && depth > 0 {
        match &text[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    at
}

fn string(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// The length of `r"…"`, `br#"…"#`, `b"…"`, `c"…"` and the like; 0 when none is here.
fn prefixed_string(text: &[u8]) -> usize {
    let prefix = text.iter().take_while(|byte| matches!(byte, b'r' | b'b' | b'c')).count();
    let hashes = text[prefix..].iter().take_while(|byte| **byte == b'#').count();
    if text.get(prefix + hashes) != Some(&b'"') {
        return 0;
    }
    let start = prefix + hashes;
    if text[prefix - 1] != b'r' {
        return if hashes == 0 { start + string(&text[start..]) } else { 0 };
    }
    let end: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let found = text[start + 1..].windows(end.len()).position(|window| window == end);
    found.map_or(text.len(), |found| start + 1 + found + end.len())
}

/// The length of a character; 0 when the quote begins a lifetime.
fn character(text: &[u8]) -> usize {
    if text.get(1) == Some(&b'\\') {
        // The escaped byte may be a quote; what follows it up to the closing quote belongs to `\x41` and `\u{41}`.
        let close = text.iter().skip(3).position(|byte| *byte == b'\'');
        return close.map_or(0, |close| 3 + close + 1);
    }
    // One character takes up to four bytes.
    let close = text.iter().skip(2).take(4).position(|byte| *byte == b'\'');
    match close {
        Some(0) => 3,
        Some(close) if text[1] >= 0x80 => 2 + close + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keyword_is_counted_and_nothing_else() {
        for (text, count) in [
            ("unsafe { *p }", 1),
            ("unsafe fn f() {} unsafe impl Send for X {}\nunsafe{}", 3),
            ("#![forbid(unsafe_code)] fn not_unsafe() {} let r#unsafe2 = 1;", 0),
            ("// unsafe\n/* unsafe /* unsafe */ unsafe */ unsafe", 1),
            (r#"let s = "unsafe \" unsafe"; unsafe"#, 1),
            (r##"r"unsafe\" unsafe r#"unsafe " unsafe"# br"unsafe" b"unsafe" c"unsafe""##, 1),
            (r"let c = '\''; unsafe; let q = '\\'; unsafe; '\u{1F600}' unsafe", 3),
            ("fn f<'a>(x: &'a str) { unsafe {} } '\"' unsafe '\"'", 2),
            ("let c = '中'; unsafe", 1),
            ("bar\"unsafe\" unsafe", 1),
            ("\"never closed unsafe", 0),
            ("'", 0),
        ] {
            assert_eq!(count_unsafe(text.as_bytes()), count, "{text}");
        }
    }

    #[test]
    fn a_last_line_without_an_end_counts() {
        assert_eq!([b"".as_slice(), b"a", b"a\n", b"a\nb", b"\n\n"].map(count_lines), [0, 1, 1, 2, 2]);
    }
}
