//! What the macros refuse, word for word; what they accept is in `pass.rs`, what constants refuse in `consts.rs`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

#[test]
fn programs_are_refused_with_the_recorded_words() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("fail/*/*.rs");
}

/// The texts of two rules differ from their first line on; what rustc says by itself is its own affair.
#[test]
fn no_two_rules_say_the_same() {
    let mut said: BTreeMap<String, (PathBuf, String)> = BTreeMap::new();
    for path in cases() {
        let ids = first_line(&path);
        let text = first_line(&path.with_extension("stderr"));
        if text.starts_with("error[") && !text.starts_with("error[E0277]") {
            continue;
        }
        if let Some((other, other_ids)) = said.insert(text.clone(), (path.clone(), ids.clone())) {
            let shared = ids.split(&[',', ' ', '/'][..]).any(|id| !id.is_empty() && other_ids.contains(id));
            assert!(shared, "{} and {} both say: {text}", path.display(), other.display());
        }
    }
    assert!(said.len() >= 80, "{} texts", said.len());
}

#[test]
fn every_file_begins_with_the_ids_it_holds() {
    for path in cases() {
        let line = first_line(&path);
        let ids = line.strip_prefix("// ").unwrap_or_default();
        let is_id = |id: &str| id.starts_with(['D', 'T']) && id[1..].chars().all(|c| c.is_ascii_digit());
        assert!(ids.split(", ").all(is_id), "{}: {line}", path.display());
    }
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fail");
    let files = |folder: PathBuf| fs::read_dir(folder).expect("is a folder").map(|file| file.expect("is read").path());
    let mut cases: Vec<PathBuf> =
        files(root).flat_map(files).filter(|path| path.extension().is_some_and(|end| end == "rs")).collect();
    cases.sort();
    cases
}

fn first_line(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().next().unwrap_or_default().to_owned()
}
