//! Runs the ui cases without the compiler: a case that passes must have no mistake, and a case that fails must have the
//! messages of its `.stderr`.
//!
//! The compiler's own errors, which have codes or speak of Rust, are left to the ui tests. A case is read as tokens, so
//! a case that does not parse as a whole can be checked too.

use std::{
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::mistakes;

/// Parts of messages without a code that do not come from `#[flow]`: from macros by example, rustc, and markers outside of a flow.
const OF_OTHERS: [&str; 4] =
    ["no rules expected", "the form is `", "cannot be sent between threads", "marks a method in an `impl` block under"];

/// A block under `#[flow(…)]`, with the attribute's options.
struct Block {
    options: TokenStream,
    item: TokenStream,
}

fn cases(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui-tests").join(folder);
    let mut found = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The options of an attribute `#[flow(…)]`, under any path; `None` for another attribute.
fn options_of(attribute: &Group) -> Option<TokenStream> {
    let mut tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
    let options = match tokens.last() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
            let stream = group.stream();
            tokens.pop();
            stream
        }
        _ => TokenStream::new(),
    };
    matches!(tokens.last(), Some(TokenTree::Ident(name)) if name == "flow").then_some(options)
}

/// Every block under `#[flow(…)]`, also in modules and functions.
fn blocks(tokens: TokenStream, found: &mut Vec<Block>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        let begin = at;
        let mut options = None;
        let mut item = TokenStream::new();
        // The attributes in front of an item; attributes other than `flow` belong to the block.
        while let [TokenTree::Punct(hash), TokenTree::Group(attribute), ..] = &tokens[at..]
            && hash.as_char() == '#'
        {
            match options_of(attribute) {
                Some(own) if options.is_none() => options = Some(own),
                _ => item.extend(tokens[at..at + 2].iter().cloned()),
            }
            at += 2;
        }
        let Some(options) = options else {
            if let TokenTree::Group(group) = &tokens[begin] {
                blocks(group.stream(), found);
            }
            at = begin + 1;
            continue;
        };
        let is_end = |token: &TokenTree| match token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(punct) => punct.as_char() == ';',
            _ => false,
        };
        let length = tokens[at..].iter().position(is_end).map_or(tokens.len() - at, |place| place + 1);
        item.extend(tokens[at..at + length].iter().cloned());
        at += length;
        found.push(Block { options, item });
    }
}

/// The mistakes of all blocks of a case; `None` when the case is not made of whole tokens, so that only rustc can report on it.
fn mistakes_of(path: &Path) -> Option<Vec<String>> {
    let text = fs::read_to_string(path).expect("can be read");
    let mut found = Vec::new();
    blocks(text.parse().ok()?, &mut found);
    Some(found.into_iter().flat_map(|block| mistakes(block.options, block.item)).collect())
}

/// The errors without a code in a `.stderr`, each with all its lines.
fn expected(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path.with_extension("stderr")).expect("a case has its text");
    let mut found: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        if let Some(message) = line.strip_prefix("error: ") {
            found.push(message.to_owned());
            is_open = true;
        } else if line.trim_start().starts_with("-->") || line.starts_with("error[") {
            is_open = false;
        } else if let Some(last) = found.last_mut().filter(|_| is_open) {
            last.push('\n');
            last.push_str(line.trim_start());
        }
    }
    found
}

#[test]
fn what_passes_the_compiler_has_no_mistake() {
    let mut count = 0;
    for path in cases("pass") {
        // Code that a macro of the case generates is missing here, since the macro is not expanded.
        if !fs::read_to_string(&path).expect("can be read").contains("macro_rules!") {
            assert_eq!(mistakes_of(&path), Some(Vec::new()), "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn what_the_compiler_refuses_in_our_words_is_found() {
    let mut count = 0;
    for path in cases("fail") {
        let (Some(mut found), mut expected) = (mistakes_of(&path), expected(&path)) else { continue };
        expected.retain(|message| !OF_OTHERS.iter().any(|part| message.contains(part)));
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{}", path.display());
        count += found.len();
    }
    assert!(count > 100, "{count}");
}
