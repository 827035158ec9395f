//! Keeps three texts equal to the list of options: the tables of `docs/dsl.md`, the list in the manual of `#[flow]`,
//! and the database's list.
//!
//! Each test compares a text with the list; with `FLOW_WRITE_OPTIONS=1` the test writes the text anew.

use std::{fs, path::PathBuf};

use super::{Attribute, NumberOption, Unit, WordOption};

/// Checks that the file at `path` in the repository holds `text` between the lines `begin` and `end`, or writes the text.
fn check(path: &str, begin: &str, end: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let known = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let (head, rest) = known.split_once(begin).unwrap_or_else(|| panic!("{path:?} has no line {begin:?}"));
    let (_, tail) = rest.split_once(end).unwrap_or_else(|| panic!("{path:?} has no line {end:?}"));
    let now = format!("{head}{begin}{text}{end}{tail}");
    if std::env::var_os("FLOW_WRITE_OPTIONS").is_some() {
        fs::write(&path, &now).expect("writes");
    } else {
        assert_eq!(known, now, "set FLOW_WRITE_OPTIONS=1 to write {path:?} anew");
    }
}

fn word_row(option: &WordOption) -> String {
    let WordOption { name, takes, default, means, .. } = option;
    let means = if means.is_empty() { String::new() } else { format!(" {means}") };
    format!("| `{name}` | {takes} | {default} |{means} |\n")
}

fn number_row(option: NumberOption, attribute: Attribute) -> String {
    let takes = match option.unit() {
        Unit::Count => "whole number",
        Unit::Milliseconds => "duration",
    };
    let written = |value: u64| match option.unit() {
        Unit::Count => format!("`{value}`"),
        Unit::Milliseconds => format!("`\"{}\"`", option.format(value)),
    };
    let is_of_the_flow = attribute != Attribute::Flow && NumberOption::OF_FLOWS.contains(&option);
    let default = if is_of_the_flow { "the flow's".to_owned() } else { written(option.default_value()) };
    let (least, most) = option.range().into_inner();
    let means = format!("{}; {} to {}", option.doc().trim_end_matches('.'), written(least), written(most));
    format!("| `{}` | {takes} | {default} | {means} |\n", option.name())
}

/// Checks that the table of the options of `attribute` stands in the docs between `heading` and `end`.
fn check_table(attribute: Attribute, heading: &str, end: &str) {
    let [first, last] = attribute.word_options();
    let first = first.iter().map(word_row);
    let numbers = attribute.number_options().iter().map(|&option| number_row(option, attribute));
    let rows: String = first.chain(numbers).chain(last.iter().map(word_row)).collect();
    let begin = format!("{heading}\n\n| option | takes | default | means |\n|---|---|---|---|\n");
    check("docs/dsl.md", &begin, end, &rows);
}

#[test]
fn the_docs_list_every_option() {
    check_table(Attribute::Flow, "## Options of `#[flow(…)]`", "\n## ");
    // A map takes what a step takes, and one option more.
    check_table(Attribute::Map, "## Options of `#[step(…)]` and `#[map(…)]`", "\nA duration");
}

#[test]
fn the_manual_lists_every_option() {
    let names = |attribute: Attribute| {
        let names = attribute.option_names().into_iter().filter(|name| *name != "over");
        names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let text = format!(
        "On `#[flow]`, where `input` is required: {}.\n\nOn `#[step]` and `#[map]`: {}; on `#[map]` also `over`.\n",
        names(Attribute::Flow),
        names(Attribute::Step)
    );
    check("flow-macros/src/manual.md", "# Options\n\n", "\nDurations are texts", &text);
}

#[test]
fn the_database_has_the_same_list() {
    let row = |option: &NumberOption| {
        let (least, most) = option.range().into_inner();
        let is_of_flows = NumberOption::OF_FLOWS.contains(option);
        format!("        ('{}', {is_of_flows}, {least}, {most}, {})", option.field(), option.default_value())
    };
    let rows: Vec<String> = NumberOption::OF_STEPS.iter().map(row).collect();
    check("flow-runtime/sql/definition/list_options.sql", "values\n", "\n    ) o(", &rows.join(",\n"));
}
