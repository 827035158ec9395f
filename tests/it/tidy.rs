//! The project's own rules: who may depend on whom, where the driver's name may stand, how files begin and how long they are,
//! and that a test or file which a comment or page names is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Which members of the workspace each member may depend on.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("flow-core", &[]),
    ("flow-macros", &["flow-core"]),
    ("flow-embedded", &[]),
    ("flow-runtime", &["flow-core", "flow-embedded", "flow-macros"]),
    ("examples", &["flow-runtime"]),
    ("bench", &["flow-examples", "flow-runtime"]),
    ("tests", &["flow-runtime"]),
    ("ui-tests", &["flow-runtime"]),
];

/// The parts of flow-runtime that may name the database driver.
const MAY_NAME_SQLX: &[&str] = &["client", "database", "embedded", "error", "worker"];

/// Files over 400 lines, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every file below `folder` whose name ends so, outside of build folders.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            if !path.ends_with("target") && !path.file_name().unwrap().to_string_lossy().starts_with('.') {
                found.extend(files(&path, ending));
            }
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_string_lossy().into_owned()
}

#[test]
fn members_depend_in_one_direction() {
    for (member, allowed) in MAY_DEPEND_ON {
        let manifest = fs::read_to_string(root().join(member).join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let mut used = BTreeSet::new();
        // A dependency of some platforms stands under `target.'cfg(…)'.dependencies`.
        let platforms =
            manifest.get("target").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values);
        for table in platforms.filter_map(toml::Value::as_table).chain([&manifest]) {
            for section in ["dependencies", "build-dependencies"] {
                let names = table.get(section).and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys);
                used.extend(names.filter(|name| name.starts_with("flow-")).cloned());
            }
        }
        let allowed: BTreeSet<String> = allowed.iter().map(ToString::to_string).collect();
        assert_eq!(used, allowed, "{member} depends on other members than it may");
    }
}

#[test]
fn every_sql_file_is_loaded_and_opens_with_its_header() {
    let loader =
        ["versions.rs", "functions.rs"].map(|file| root().join("flow-runtime/src/database/migrate").join(file));
    let loader = loader.map(|file| fs::read_to_string(file).unwrap()).concat();
    let functions = files(&root().join("flow-runtime/sql"), ".sql");
    let migrations = files(&root().join("flow-runtime/migrations"), ".sql");
    assert!(functions.len() > 30 && !migrations.is_empty());
    for path in functions.iter().chain(&migrations) {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.starts_with("-- "), "{} does not open with a comment that says what it does", name(path));
        let stem = path.file_stem().unwrap().to_string_lossy();
        assert!(
            loader.contains(&format!("\"{stem}\"")) || loader.contains(&format!("{stem}.sql")),
            "{} is not loaded",
            name(path)
        );
    }
    for path in functions {
        let text = fs::read_to_string(&path).unwrap();
        let made = text.matches("create or replace function").count() + text.matches("create or replace view").count();
        assert_eq!(made, 1, "{} makes {made} functions or views; one a file", name(&path));
    }
}

#[test]
fn the_drivers_name_stands_in_few_places() {
    let source = root().join("flow-runtime/src");
    for path in files(&source, ".rs") {
        let text = fs::read_to_string(&path).unwrap();
        let part =
            path.strip_prefix(&source).unwrap().components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let part = part.trim_end_matches(".rs");
        assert!(!text.contains("sqlx") || MAY_NAME_SQLX.contains(&part), "{} names sqlx", name(&path));
    }
}

/// The folders of SQL, each with those whose functions its own may call besides.
const MAY_CALL: &[(&str, &[&str])] = &[
    ("delivery", &[]),
    ("engine", &["delivery"]),
    ("definition", &["engine", "delivery"]),
    ("operator", &["definition", "engine", "delivery"]),
    ("protocol", &["operator", "definition", "engine", "delivery"]),
    ("views", &["engine", "delivery"]),
];

/// Every SQL function and view: its name, its folder and its text without comments.
fn sql_functions() -> Vec<(String, String, String)> {
    let read = |path: &PathBuf| {
        let folder = path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).unwrap();
        let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
        (path.file_stem().unwrap().to_string_lossy().into_owned(), folder, code.join("\n"))
    };
    files(&root().join("flow-runtime/sql"), ".sql").iter().map(read).collect()
}

#[test]
fn sql_functions_call_in_one_direction() {
    let functions = sql_functions();
    let mut calls = 0;
    for (name, folder, code) in &functions {
        let (_, besides) = MAY_CALL.iter().find(|(of, _)| of == folder).expect("every folder has a rule");
        for (called, of, _) in &functions {
            if called != name && code.contains(&format!("flow.{called}(")) {
                calls += 1;
                assert!(of == folder || besides.contains(&of.as_str()), "{folder}/{name} calls {of}/{called}");
            }
        }
    }
    assert!(calls > 100, "{calls}");
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    for (folder, _) in MAY_CALL {
        assert!(page.contains(&format!("| `{folder}` |")), "docs/architecture.md does not tell of {folder}");
    }
}

#[test]
fn only_the_folder_of_delivery_names_pgmq() {
    for (name, folder, code) in sql_functions() {
        assert!(folder == "delivery" || !code.contains("pgmq."), "{folder}/{name} names pgmq");
    }
}

#[test]
fn every_source_file_says_what_it_is() {
    for path in files(&root(), ".rs").into_iter().filter(|path| !name(path).starts_with("ui-tests/")) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//!"), "{} does not open with //!", name(&path));
    }
}

#[test]
fn a_long_file_has_a_reason() {
    let long: BTreeMap<String, usize> = files(&root(), ".rs")
        .into_iter()
        .filter(|path| !name(path).starts_with("tests/it/"))
        .map(|path| (name(&path), fs::read_to_string(&path).unwrap().lines().count()))
        .filter(|(_, lines)| *lines > 400)
        .collect();
    let listed: Vec<&str> = LONG_FILES.iter().map(|(file, _)| *file).collect();
    let unlisted: Vec<_> = long.iter().filter(|(file, _)| !listed.contains(&file.as_str())).collect();
    assert!(unlisted.is_empty(), "split these by noun, or list them with a reason: {unlisted:?}");
    let stale: Vec<_> = listed.iter().filter(|file| !long.contains_key(**file)).collect();
    assert!(stale.is_empty(), "no longer over 400 lines: {stale:?}");
}

/// The folders whose files are named by comments and pages.
const FOLDERS: &[&str] =
    &[".ci", "bench", "docs", "examples", "flow-core", "flow-macros", "flow-runtime", "tests", "ui-tests"];

/// What is there to be named.
struct Known {
    /// Every test, as `module::name`.
    tests: BTreeSet<String>,
    /// The modules of the program `it`.
    modules: BTreeSet<String>,
    /// Every word of the code, comments left out.
    words: BTreeSet<String>,
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    let is_attribute = line.starts_with("#!") || line.starts_with("#[");
    !is_attribute && ["//", "--", "#", "*"].iter().any(|start| line.starts_with(start))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_alphanumeric() && !"_:/.-".contains(c));
    parts.map(|word| word.trim_matches(|c: char| ":/.-".contains(c)))
}

/// The names of a file's tests: its functions under an attribute that ends in `test`, or has arguments after that.
fn test_names(text: &str) -> Vec<&str> {
    let mut is_test = false;
    let mut names = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[") {
            is_test |= line.contains("test]") || line.contains("test(");
        } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| is_test) {
            names.extend(rest.split('(').next());
            is_test = false;
        }
    }
    names
}

impl Known {
    fn of_project() -> Self {
        let mut known = Self { tests: BTreeSet::new(), modules: BTreeSet::new(), words: BTreeSet::new() };
        for path in files(&root(), ".rs").into_iter().chain(files(&root(), ".sql")) {
            let (name, text) = (name(&path), fs::read_to_string(&path).unwrap());
            let code = text.lines().filter(|line| !is_comment(line)).flat_map(words);
            known.words.extend(code.flat_map(|word| word.split(['.', ':'])).map(str::to_owned));
            let inside = ["/src/", "/it/", "/pass/"].iter().find_map(|folder| name.split_once(folder));
            let module = inside.map_or(&*name, |(_, inside)| inside).trim_end_matches(".rs").replace('/', "::");
            if name.starts_with("tests/it/") {
                known.modules.insert(module.clone());
            }
            let inner = if text.contains("\nmod tests {") { "::tests" } else { "" };
            known.tests.extend(test_names(&text).into_iter().map(|test| format!("{module}{inner}::{test}")));
        }
        known
    }

    fn has_test(&self, name: &str) -> bool {
        self.tests
            .iter()
            .any(|test| test.strip_suffix(name).is_some_and(|start| start.is_empty() || start.ends_with("::")))
    }

    /// Whether a word is no name of a test or file, or one of those that are there. A name of a test is a sentence, so
    /// that it has many words; other names of as many words stand somewhere in the code.
    fn is_known(&self, word: &str) -> bool {
        if word.split_once('/').is_some_and(|(folder, _)| FOLDERS.contains(&folder)) {
            // A decision is named by its number too.
            let path = root().join(word);
            let (folder, start) = (path.parent().unwrap(), path.file_name().unwrap().to_string_lossy().into_owned());
            let is_one = |entry: fs::DirEntry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                name == start || name.starts_with(&format!("{start}-"))
            };
            return fs::read_dir(folder).is_ok_and(|entries| entries.map(Result::unwrap).any(is_one));
        }
        let is_snake = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        let (module, test) = word.rsplit_once("::").unwrap_or(("", word));
        if !is_snake(test) || !module.split("::").all(is_snake) {
            return true;
        }
        let count = test.matches('_').count();
        if self.modules.contains(module) && count >= 2 {
            return self.has_test(word);
        }
        count < 4 || self.has_test(test) || self.words.contains(test)
    }

    fn unknown<'a>(&self, text: &'a str) -> Vec<&'a str> {
        words(text).filter(|word| !self.is_known(word)).collect()
    }
}

#[test]
fn a_test_or_file_that_a_comment_or_page_names_is_there() {
    let known = Known::of_project();
    let mut wrong = Vec::new();
    for ending in [".rs", ".sql", ".toml", ".md"] {
        for path in files(&root(), ending) {
            let text = fs::read_to_string(&path).unwrap();
            for line in text.lines().filter(|line| ending == ".md" || is_comment(line)) {
                wrong.extend(known.unknown(line).iter().map(|word| format!("{}: {word}", name(&path))));
            }
        }
    }
    assert!(wrong.is_empty(), "named, and not there: {wrong:#?}");
}

#[test]
fn a_name_of_nothing_is_found_in_a_comment() {
    let known = Known::of_project();
    let gone = ["long", "since", "taken", "out"].join("_");
    for (text, wrong) in [
        (format!("-- `settle::{gone}` holds this."), format!("settle::{gone}")),
        (format!("held by `a_test_that_is_{gone}`"), format!("a_test_that_is_{gone}")),
        (format!("//! See tests/it/{gone}.rs."), format!("tests/it/{gone}.rs")),
        (format!("docs/decisions/9999-{gone}.md;"), format!("docs/decisions/9999-{gone}.md")),
    ] {
        assert_eq!(known.unknown(&text), [wrong]);
    }
    let right = "`settle::another_workers_settlement_is_lost` `order::tests::cycles_are_listed_in_order` tests/it docs/decisions/0005
                 `a_set_runs_each_pool_with_its_own_slots`, `flow.task_lease_only_while_started`, `FLOW_TEST_DATABASE_URL`";
    assert_eq!(known.unknown(right), [""; 0]);
}

#[test]
fn every_filter_of_a_seeded_fault_names_a_test() {
    let faults: toml::Table = fs::read_to_string(root().join("tests/seeded_faults.toml")).unwrap().parse().unwrap();
    let tests = Known::of_project().tests;
    for fault in faults["fault"].as_array().unwrap() {
        for filter in fault["tests"].as_array().unwrap().iter().map(|filter| filter.as_str().unwrap()) {
            assert!(tests.iter().any(|test| test.starts_with(filter)), "{filter} names no test: {:?}", fault["name"]);
        }
    }
}
