//! The project's own rules: who may depend on whom, where the driver's name may stand, how files begin and how long they are.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Which members of the workspace each member may depend on.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("flow-core", &[]),
    ("flow-macros", &["flow-core"]),
    ("flow-runtime", &["flow-core", "flow-macros"]),
    ("examples", &["flow-runtime"]),
    ("bench", &["flow-examples", "flow-runtime"]),
    ("tests", &["flow-runtime"]),
    ("ui-tests", &["flow-runtime"]),
];

/// The parts of flow-runtime that may name the database driver.
const MAY_NAME_SQLX: &[&str] =
    &["store", "migrate", "notify", "client", "embedded", "database", "db", "deploy", "error", "worker"];

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
        for section in ["dependencies", "build-dependencies"] {
            let names = manifest.get(section).and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys);
            used.extend(names.filter(|name| name.starts_with("flow-")).cloned());
        }
        let allowed: BTreeSet<String> = allowed.iter().map(ToString::to_string).collect();
        assert_eq!(used, allowed, "{member} depends on other members than it may");
    }
}

#[test]
fn every_sql_file_is_loaded_and_opens_with_its_header() {
    let loader = fs::read_to_string(root().join("flow-runtime/src/migrate.rs")).unwrap();
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
