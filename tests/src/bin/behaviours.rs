//! Joins the ids of `docs/behaviours.md` with the log of a test run: which behaviours are held by a test that ran and passed.
//!
//! `behaviours LOG` prints a line a group, and fails when an id of a finished group is not held. A test names its ids in the
//! comment directly above its attribute, a ui case in its first line.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;

/// How the tests that name one id ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    /// No test names it.
    Missing,
    /// A test names it and did not run.
    Ignored,
    /// A test that names it failed.
    Failed,
    /// Every test that names it passed.
    Passed,
}

fn main() -> ExitCode {
    match report() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn report() -> anyhow::Result<bool> {
    let log = std::env::args().nth(1).context("name the log of a test run")?;
    let log = fs::read_to_string(&log).with_context(|| format!("cannot read `{log}`"))?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the package lies in the workspace")?;
    let page = fs::read_to_string(root.join("docs/behaviours.md")).context("cannot read docs/behaviours.md")?;
    let first = page.lines().next().and_then(|line| line.strip_prefix("finished:"));
    let finished: BTreeSet<&str> =
        first.context("the first line must read `finished: …`")?.split_whitespace().collect();

    let results = results(&log);
    let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in source_files(root) {
        name_tests(root, &file, &mut named)?;
    }
    let mut groups: BTreeMap<String, Vec<(String, Held)>> = BTreeMap::new();
    for id in page.lines().filter_map(id_of) {
        let tests = named.get(&id).map(Vec::as_slice).unwrap_or_default();
        let held = tests.iter().map(|test| result_of(test, &results)).min().unwrap_or(Held::Missing);
        groups.entry(id[..1].to_owned()).or_default().push((id, held));
    }

    let mut is_held = true;
    for (group, ids) in &groups {
        let of = |held: Held| ids.iter().filter(|(_, h)| *h == held).map(|(id, _)| id.as_str()).collect::<Vec<_>>();
        let (passed, open) = (of(Held::Passed).len(), ids.len() - of(Held::Passed).len());
        let is_finished = finished.contains(group.as_str());
        let state = if is_finished { "finished" } else { "under way" };
        println!("{group}  {passed:>3} of {:>3} held  {state}", ids.len());
        if open > 0 {
            for (held, what) in [(Held::Failed, "failed"), (Held::Ignored, "ignored"), (Held::Missing, "missing")] {
                if !of(held).is_empty() {
                    println!("     {what}: {}", of(held).join(" "));
                }
            }
            is_held &= !is_finished;
        }
    }
    Ok(is_held)
}

/// The id that a line of the page defines.
fn id_of(line: &str) -> Option<String> {
    let (id, _) = line.strip_prefix("- **")?.split_once("**")?;
    is_id(id).then(|| id.to_owned())
}

fn is_id(word: &str) -> bool {
    let mut chars = word.chars();
    let digits = chars.next().filter(char::is_ascii_uppercase).map(|_| chars.as_str());
    digits.is_some_and(|digits| !digits.is_empty() && digits.len() < 4 && digits.chars().all(|c| c.is_ascii_digit()))
}

/// The ids in a comment that holds nothing else.
fn ids_in(comment: &str) -> Vec<String> {
    let text = comment.trim().strip_prefix("//").unwrap_or_default();
    let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    if words.iter().all(|word| is_id(word)) { words.into_iter().map(str::to_owned).collect() } else { Vec::new() }
}

/// `test NAME ... RESULT` lines, colours taken out.
fn results(log: &str) -> BTreeMap<String, bool> {
    let mut results = BTreeMap::new();
    for line in log.lines() {
        let plain = without_colours(line);
        let Some((name, result)) = plain.trim().strip_prefix("test ").and_then(|rest| rest.split_once(" ... ")) else {
            continue;
        };
        let name = name.trim_end_matches(" [should pass]").trim_end_matches(" - should panic").to_owned();
        let result = result.trim();
        if result.starts_with("ok")
            || result.starts_with("FAILED")
            || result.starts_with("error")
            || result == "mismatch"
        {
            *results.entry(name).or_insert(true) &= result.starts_with("ok");
        }
    }
    results
}

fn without_colours(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    plain + rest
}

/// The result of one test; of a whole module, written `module::`, the worst of its tests.
fn result_of(test: &str, results: &BTreeMap<String, bool>) -> Held {
    let is_meant = |name: &str| {
        name == test || name.ends_with(&format!("/{test}")) || (test.ends_with("::") && name.starts_with(test))
    };
    let meant = results.iter().filter(|(name, _)| is_meant(name));
    meant.map(|(_, is_ok)| if *is_ok { Held::Passed } else { Held::Failed }).min().unwrap_or(Held::Ignored)
}

/// The source files of all members.
fn source_files(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = ["tests", "ui-tests", "flow-core", "flow-macros", "flow-runtime", "examples"]
        .map(|name| root.join(name))
        .into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    files
}

/// Adds the tests of one file under the ids they name.
fn name_tests(root: &Path, file: &Path, named: &mut BTreeMap<String, Vec<String>>) -> anyhow::Result<()> {
    let text = fs::read_to_string(file)?;
    let path = file.strip_prefix(root)?.to_string_lossy().into_owned();
    if let Some(case) =
        path.strip_prefix("ui-tests/").filter(|case| case.starts_with("pass/") || case.starts_with("fail/"))
    {
        // What passes is one program with a module a file; the tests of the module run it.
        let module = case.strip_prefix("pass/").map(|case| case.trim_end_matches(".rs").to_owned() + "::");
        for id in ids_in(text.lines().next().unwrap_or_default()) {
            named.entry(id).or_default().push(module.clone().unwrap_or_else(|| case.to_owned()));
        }
        if module.is_none() {
            return Ok(());
        }
    }
    let modules = modules_of(&path);
    let lines: Vec<&str> = text.lines().collect();
    let mut inner = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with("mod ") && line.ends_with('{') {
            inner = vec![line.trim_start_matches("mod ").trim_end_matches(" {").to_owned()];
        } else if *line == "}" {
            inner.clear();
        }
        let ids = ids_in(line);
        let is_above_attribute = lines.get(at + 1).is_some_and(|next| next.trim().starts_with("#["));
        if ids.is_empty() || !is_above_attribute {
            continue;
        }
        let function = lines[at + 1..].iter().find_map(|line| line.split_once("fn ")).map(|(_, rest)| rest);
        let Some(name) = function.and_then(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()) else {
            continue;
        };
        let test = modules.iter().chain(&inner).map(String::as_str).chain([name]).collect::<Vec<_>>().join("::");
        for id in ids {
            named.entry(id).or_default().push(test.clone());
        }
    }
    Ok(())
}

/// The modules that a file's path stands for: `tests/it/claim.rs` is `claim`, `flow-core/src/graph/tests.rs` is
/// `graph::tests`, and the root of a program or crate none.
fn modules_of(path: &str) -> Vec<String> {
    let inside = ["/src/", "/it/", "/tests/", "/pass/"]
        .iter()
        .find_map(|folder| path.split_once(folder))
        .map_or(path, |(_, rest)| rest);
    let parts = inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect::<Vec<_>>();
    let is_root = matches!(parts.last().map(String::as_str), Some("main" | "lib" | "mod"))
        || (path.starts_with("ui-tests/tests/") && parts.len() == 1);
    if is_root { parts[..parts.len() - 1].to_vec() } else { parts }
}
