//! What constants say when they refuse: compared by the first line, since the rest quotes the standard library.
//!
//! The second line of a file in `consts/` is the text that the compiler's only error ends with.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

// T14
#[test]
fn constants_refuse_with_the_expected_words() {
    let cases = read_cases();
    let project = write_project(&cases);
    let mut found = check(&project);
    for (name, expected) in &cases {
        let errors = found.remove(name).unwrap_or_default();
        assert_eq!(errors.len(), 1, "{name}: {errors:#?}");
        assert_eq!(errors[0], format!("evaluation panicked: {expected}"), "{name}");
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("consts")
}

/// The names of the files and the texts they expect.
fn read_cases() -> BTreeMap<String, String> {
    let files = fs::read_dir(folder()).expect("the folder is there");
    let read = |path: PathBuf| {
        let name = path.file_stem()?.to_str()?.to_owned();
        let text = fs::read_to_string(&path).ok()?;
        Some((name, text.lines().nth(1)?.strip_prefix("// ")?.to_owned()))
    };
    files.map(|file| read(file.expect("can be read").path()).expect("has a second line")).collect()
}

/// A package with one program a file.
fn write_project(cases: &BTreeMap<String, String>) -> PathBuf {
    let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join("consts");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("lies in the workspace");
    let mut manifest = format!(
        "[package]\nname = \"consts\"\nedition = \"2024\"\n\n[workspace]\n\n[profile.dev]\ndebug = \"line-tables-only\"\n\n[dependencies]\nflow-runtime = {{ path = {:?} }}\n",
        workspace.join("flow-runtime")
    );
    for name in cases.keys() {
        let path = folder().join(format!("{name}.rs"));
        manifest.push_str(&format!("\n[[bin]]\nname = {name:?}\npath = {path:?}\n"));
    }
    fs::create_dir_all(&project).expect("the folder can be made");
    fs::write(project.join("Cargo.toml"), manifest).expect("the manifest can be written");
    fs::copy(workspace.join("Cargo.lock"), project.join("Cargo.lock")).expect("the lock file can be copied");
    project
}

/// The errors of each program; `aborting due to …` is none.
fn check(project: &Path) -> BTreeMap<String, Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--bins", "--keep-going", "--quiet", "--message-format=json"])
        .current_dir(project)
        // The folder of this build, so that dependencies are compiled once.
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join(".."))
        .output()
        .expect("cargo runs");
    let mut errors: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        let message = &line["message"];
        if message["level"] == "error" && message["spans"].as_array().is_some_and(|spans| !spans.is_empty()) {
            let name = line["target"]["name"].as_str().unwrap_or_default().to_owned();
            errors.entry(name).or_default().push(message["message"].as_str().unwrap_or_default().to_owned());
        }
    }
    assert!(!errors.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    errors
}
