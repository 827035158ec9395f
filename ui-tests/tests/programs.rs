//! Whole programs, and what the compiler says of each: how many errors, on which lines, in whose words.
//!
//! `//~` ends each line on which exactly one error must stand, followed by a part of its text. A program without such a
//! line compiles. `//~2` is for
//! half a line that has two errors of rustc's own, also without the macro. `FLOW_UI_PROGRAM=part` limits a run to the programs whose names contain the part, and shows what is said.

mod support;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use support::{Message, Project, files};

/// What programs use beside the runtime.
const DEPENDENCIES: &str = "\
anyhow = \"1\"
chrono = { version = \"0.4\", default-features = false, features = [\"clock\", \"serde\", \"std\"] }
schemars = { version = \"1\", default-features = false, features = [\"derive\", \"std\", \"chrono04\", \"uuid1\"] }
serde = { version = \"1\", features = [\"derive\"] }
serde_json = { version = \"1\", features = [\"raw_value\"] }
thiserror = \"2\"
tokio = { version = \"1\", default-features = false, features = [\"macros\", \"rt\", \"rt-multi-thread\", \"sync\", \"time\"] }
tracing = { version = \"0.1\", default-features = false, features = [\"std\", \"attributes\"] }
uuid = { version = \"1\", features = [\"v7\", \"serde\"] }
";

/// How the library of right programs begins.
const LIB: &str = "\
//! Right programs.

#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![forbid(unsafe_code)]
// Most programs declare what they do not use.
#![allow(dead_code)]
";

// T29, T32
#[test]
fn one_mistake_gives_one_error() {
    expect_marked_errors("refused");
}

// T29
#[test]
fn half_a_line_gives_one_error() {
    expect_marked_errors("half_typed");
}

fn expect_marked_errors(folder: &str) {
    let programs = chosen(folder);
    let mut messages = check_each(folder, &programs);
    let mut wrong = Vec::new();
    for (name, path) in &programs {
        let said: Vec<Message> = messages.remove(name).unwrap_or_default();
        let text = fs::read_to_string(path).expect("can be read");
        if let Err(reason) = compare(&text, &said) {
            wrong.push(format!("{folder}/{name}: {reason}"));
        }
        show(name, &said);
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), programs.len(), wrong.join("\n"));
}

/// Whether each marked line has one error with the marked text, and no other line has any.
fn compare(text: &str, said: &[Message]) -> Result<(), String> {
    let marked: Vec<(u64, &str)> = (1..).zip(text.lines()).flat_map(|(line, text)| marks(line, text)).collect();
    let mut found: Vec<(u64, &Message)> =
        said.iter().filter(|message| message.is_error).map(|message| (message.line, message)).collect();
    found.sort_by_key(|(line, _)| *line);
    let lines: Vec<u64> = found.iter().map(|(line, _)| *line).collect();
    let wanted: Vec<u64> = marked.iter().map(|(line, _)| *line).collect();
    if lines != wanted {
        let texts: Vec<String> =
            found.iter().map(|(line, message)| format!("\n    {line}: {}", message.text)).collect();
        return Err(format!("errors on the lines {lines:?} and not {wanted:?}{}", texts.concat()));
    }
    for ((_, part), (_, message)) in marked.iter().zip(&found) {
        if !message.rendered.contains(part) {
            return Err(format!("does not say `{part}`: {}", message.rendered));
        }
        let ours = ["generated", "Carrier", "stand_in", "StepArgs", "__args"];
        if let Some(word) = ours.iter().find(|word| message.text.contains(**word)) {
            return Err(format!("speaks of `{word}`, which no user wrote: {}", message.text));
        }
    }
    Ok(())
}

/// The errors that must stand on a line, with what they say.
fn marks(line: u64, text: &str) -> Vec<(u64, &str)> {
    match text.split_once("//~") {
        None => Vec::new(),
        Some((_, part)) => match part.strip_prefix('2') {
            Some(part) => vec![(line, part.trim()); 2],
            None => vec![(line, part.trim())],
        },
    }
}

/// The programs of a folder that this run is limited to.
fn chosen(folder: &str) -> Vec<(String, PathBuf)> {
    let part = std::env::var("FLOW_UI_PROGRAM").unwrap_or_default();
    files(&format!("programs/{folder}")).into_iter().filter(|(name, _)| name.contains(&part)).collect()
}

fn show(name: &str, said: &[Message]) {
    if std::env::var_os("FLOW_UI_PROGRAM").is_some() {
        let rendered: Vec<&str> = said.iter().map(|message| message.rendered.as_str()).collect();
        println!("=== {name}\n{}", rendered.join("\n"));
    }
}

/// What `cargo check` says of each program by itself.
fn check_each(folder: &str, programs: &[(String, PathBuf)]) -> BTreeMap<String, Vec<Message>> {
    let mut messages: BTreeMap<String, Vec<Message>> = BTreeMap::new();
    for message in project_of_programs(folder, programs).messages(&["check", "--bins"]) {
        messages.entry(message.target.clone()).or_default().push(message);
    }
    messages
}

/// A package with one binary a program.
fn project_of_programs(folder: &str, programs: &[(String, PathBuf)]) -> Project {
    let mut manifest = DEPENDENCIES.to_owned();
    for (name, path) in programs {
        manifest.push_str(&format!("\n[[bin]]\nname = {name:?}\npath = {path:?}\n"));
    }
    Project::new(&format!("programs-{folder}").replace('_', "-"), "2024", &manifest)
}

// T30
#[test]
fn right_programs_pass_the_strictest_lints_of_2021() {
    expect_no_message(&library_of_programs("2021"));
}

// T30
#[test]
fn right_programs_pass_the_strictest_lints_of_2024() {
    expect_no_message(&library_of_programs("2024"));
}

/// A build finds what a check does not: a part that was refused and is compiled nevertheless.
// T31
#[test]
fn handlers_of_right_programs_run() {
    let output = library_of_programs("2024").cargo(&["test", "--lib"]);
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A flow ten times as long as people write by hand. A recursion limit, the stack, or a cost that grows with the square of
/// the steps would show here.
// T30
#[test]
fn a_flow_of_500_steps_builds_and_runs() {
    let project = Project::new("programs-500-steps", "2024", DEPENDENCIES);
    project.write("src/main.rs", &program_of_steps(500));
    let output = project.cargo(&["run"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A program whose every step takes the input and the three steps before it, and which runs each handler once.
fn program_of_steps(count: usize) -> String {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/run.rs");
    let mut text = format!(
        "#![deny(warnings)]\n\n#[path = {run:?}]\nmod run;\n\nuse flow_runtime::prelude::*;\n\n\
         #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]\nstruct Receipt {{ total: u32 }}\n\n\
         struct Shop;\n\n#[flow(input = u32)]\nimpl Shop {{\n"
    );
    for step in 0..count {
        let before: Vec<String> = (step.saturating_sub(3)..step).map(|step| format!("step_{step}")).collect();
        let params: String = before.iter().map(|name| format!(", {name}: Receipt")).collect();
        let sum: String = before.iter().map(|name| format!(" ^ {name}.total")).collect();
        text.push_str(&format!(
            "    #[step]\n    async fn step_{step}(&self, input: u32{params}) -> Result<Receipt, StepError> {{ \
             Ok(Receipt {{ total: input{sum} }}) }}\n"
        ));
    }
    text.push_str("}\n\nfn main() {\n    run::run_handlers(Shop);\n}\n");
    text
}

// T33
#[test]
fn conditions_that_cannot_be_met_are_refused_by_the_check() {
    let programs = chosen("refused_by_check");
    let project = project_of_programs("refused_by_check", &programs);
    for (name, path) in &programs {
        let output = project.cargo(&["run", "--bin", name]);
        let said = String::from_utf8_lossy(&output.stderr);
        let text = fs::read_to_string(path).expect("can be read");
        for (_, part) in (1..).zip(text.lines()).flat_map(|(line, text)| marks(line, text)) {
            assert!(!output.status.success() && said.contains(part), "{name} does not say `{part}`: {said}");
        }
    }
}

/// A library whose modules are the right programs, with a test that runs each.
fn library_of_programs(edition: &str) -> Project {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/run.rs");
    let mut lib = format!(
        "{LIB}\n#[cfg(test)]\n#[path = {run:?}]\nmod run;\n#[cfg(not(test))]\nmod run {{\n    pub(crate) fn run_handlers<F>(_: F) {{}}\n}}\n"
    );
    let mut tests = String::from("\n#[cfg(test)]\nmod tests {\n");
    for (name, path) in chosen("accepted") {
        lib.push_str(&format!("\n/// A program.\n#[path = {path:?}]\npub mod {name};\n"));
        tests.push_str(&format!("    #[test]\n    fn {name}() {{\n        crate::{name}::main();\n    }}\n"));
    }
    let project = Project::new(&format!("programs-accepted-{edition}"), edition, DEPENDENCIES);
    project.write("src/lib.rs", &format!("{lib}{tests}}}\n"));
    project
}

fn expect_no_message(project: &Project) {
    let mut found: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for message in project.messages(&["clippy", "--lib"]) {
        let text = if std::env::var_os("FLOW_UI_PROGRAM").is_some() { message.rendered } else { message.text };
        found.entry(message.file).or_default().push(format!("\n    {}: {text}", message.line));
    }
    let texts: Vec<String> =
        found.iter().map(|(file, texts)| format!("{}:{}", file.display(), texts.concat())).collect();
    assert!(found.is_empty(), "{} programs:\n{}", found.len(), texts.join("\n"));
}
