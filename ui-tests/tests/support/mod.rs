//! Packages of programs that a test writes, compiles with cargo, and reads the compiler's messages of.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

/// A package in the folder of this build's temporary files.
pub(crate) struct Project {
    folder: PathBuf,
}

/// An error or a warning of the compiler.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    /// The name of the program; that of the package where a file is a module.
    pub(crate) target: String,
    /// Whether the message is an error.
    pub(crate) is_error: bool,
    /// The first line.
    pub(crate) text: String,
    /// The whole message as people read it.
    pub(crate) rendered: String,
    /// The file of the code that is wrong, where the user wrote it.
    pub(crate) file: PathBuf,
    /// Its line.
    pub(crate) line: u64,
}

impl Project {
    /// A package called `name` of `edition`, with `rest` after the dependencies in its manifest.
    pub(crate) fn new(name: &str, edition: &str, rest: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let project = Self { folder };
        let manifest = format!(
            "[package]\nname = {name:?}\nedition = {edition:?}\n\n[workspace]\n\n[profile.dev]\ndebug = \"line-tables-only\"\n\n\
             [dependencies]\nflow-runtime = {{ path = {:?} }}\n{rest}",
            workspace().join("flow-runtime")
        );
        fs::create_dir_all(&project.folder).expect("the folder can be made");
        project.write("Cargo.toml", &manifest);
        if !project.folder.join("Cargo.lock").exists() {
            fs::copy(workspace().join("Cargo.lock"), project.folder.join("Cargo.lock"))
                .expect("the lock file is copied");
        }
        project
    }

    /// Writes a file, unless the file has this text already.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().expect("lies in the folder")).expect("the folder can be made");
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return;
        }
        fs::write(path, text).expect("the file can be written");
    }

    /// Runs cargo in the package and shares the dependencies that this build has compiled.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO"))
            .args(arguments)
            .args(["--offline", "--quiet"])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join(".."))
            .output()
            .expect("cargo runs")
    }

    /// What the compiler says of the package's own code.
    pub(crate) fn messages(&self, arguments: &[&str]) -> Vec<Message> {
        let output = self.cargo(&[arguments, &["--keep-going", "--message-format=json"]].concat());
        let lines: Vec<Value> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let is_built = lines.iter().any(|line| line["reason"] == "build-finished");
        assert!(is_built, "cargo did not get to compile: {}", String::from_utf8_lossy(&output.stderr));
        lines.iter().filter_map(|line| self.read_message(line)).collect()
    }

    fn read_message(&self, line: &Value) -> Option<Message> {
        let message = &line["message"];
        let spans = message["spans"].as_array()?;
        let is_error = message["level"] == "error";
        // What has no span is a summary such as `aborting due to …`.
        let span = spans.iter().find(|span| span["is_primary"] == true)?;
        let span = outermost(span);
        Some(Message {
            target: line["target"]["name"].as_str()?.to_owned(),
            is_error,
            text: message["message"].as_str()?.to_owned(),
            rendered: message["rendered"].as_str()?.to_owned(),
            file: self.folder.join(span["file_name"].as_str()?),
            line: span["line_start"].as_u64()?,
        })
    }
}

/// Where the user wrote what expanded to `span`.
fn outermost(mut span: &Value) -> &Value {
    let is_elsewhere = |span: &Value| span["file_name"].as_str().is_some_and(|file| file.contains("/flow-"));
    while is_elsewhere(span) && span["expansion"].is_object() {
        span = &span["expansion"]["span"];
    }
    span
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("lies in the workspace")
}

/// The Rust files of a folder of this package, by name.
pub(crate) fn files(folder: &str) -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<(String, PathBuf)> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|file| file.expect("can be read").path())
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .map(|path| (path.file_stem().expect("has a name").to_string_lossy().into_owned(), path))
        .collect();
    files.sort();
    files
}
