//! Puts one fault at a time into a copy of the project and tells which test catches it. For hand use: it takes a while.
//!
//! `seeded_faults [WORDS…]` runs the faults of `tests/seeded_faults.toml` whose names hold one of the words, and prints a table row for
//! each. A fault that no test catches is an open defect of the tests; then the program fails.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context, ensure};
use serde::Deserialize;

/// How many seconds the tests of one fault get, the build included: some faults make a test wait for ever.
const TIME_LIMIT: &str = "240";

#[derive(Deserialize)]
struct Faults {
    fault: Vec<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    name: String,
    file: PathBuf,
    text: String,
    replacement: String,
    tests: Vec<String>,
}

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> anyhow::Result<bool> {
    let root = root()?;
    let faults = faults(root)?;
    let copy = root.join("target/seeded_faults/copy");
    copy_project(root, &copy)?;
    let mut are_caught = true;
    println!("| fault | caught by |\n|---|---|");
    for fault in faults.iter().filter(|fault| words.is_empty() || words.iter().any(|word| fault.name.contains(word))) {
        let path = copy.join(&fault.file);
        let text = fault.source(&copy)?;
        fs::write(&path, text.replace(&fault.text, &fault.replacement))?;
        let caught = catch(&copy, &fault.tests);
        fs::write(&path, text)?;
        let caught = caught?;
        are_caught &= caught.is_some();
        println!("| {} | {} |", fault.name, caught.map_or("**nothing**".to_owned(), |test| format!("`{test}`")));
    }
    Ok(are_caught)
}

/// The project's folder.
fn root() -> anyhow::Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the package lies in the workspace")
}

fn faults(root: &Path) -> anyhow::Result<Vec<Fault>> {
    let faults: Faults = toml::from_str(&fs::read_to_string(root.join("tests/seeded_faults.toml"))?)?;
    Ok(faults.fault)
}

impl Fault {
    /// The whole file that the fault changes, in which its text stands once.
    fn source(&self, root: &Path) -> anyhow::Result<String> {
        let file = self.file.display();
        let source = fs::read_to_string(root.join(&self.file)).with_context(|| file.to_string())?;
        ensure!(source.matches(&self.text).count() == 1, "{}: the text does not stand once in {file}", self.name);
        Ok(source)
    }
}

/// Copies what git knows of the project.
fn copy_project(root: &Path, copy: &Path) -> anyhow::Result<()> {
    let listed =
        Command::new("git").args(["ls-files", "-z", "-c", "-o", "--exclude-standard"]).current_dir(root).output()?;
    ensure!(listed.status.success(), "git cannot list the project's files");
    for name in String::from_utf8(listed.stdout)?.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (root.join(name), copy.join(name));
        if fs::read(&from).ok() != fs::read(&to).ok() {
            fs::create_dir_all(to.parent().context("a file lies in a folder")?)?;
            fs::copy(from, to)?;
        }
    }
    Ok(())
}

/// The first test that fails or hangs, if one does. A fault that does not compile or does not migrate is caught by that.
fn catch(copy: &Path, filters: &[String]) -> anyhow::Result<Option<String>> {
    let mut tests = Command::new("timeout")
        .args(["--kill-after=5", TIME_LIMIT, "cargo", "test", "-p", "flow-tests", "--test", "it", "--"])
        .args(filters)
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", copy.parent().context("the copy lies in a folder")?.join("target"))
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut log = String::new();
    tests.stdout.take().context("the output is piped")?.read_to_string(&mut log)?;
    if tests.wait()?.success() {
        return Ok(None);
    }
    let named = |ending: &str| log.lines().find_map(|line| line.strip_prefix("test ")?.strip_suffix(ending));
    let caught = named(" ... FAILED").map(str::to_owned);
    let hung = named(" has been running for over 60 seconds").map(|test| format!("{test} (hangs)"));
    Ok(Some(caught.or(hung).unwrap_or_else(|| "the build".to_owned())))
}

#[cfg(test)]
mod tests {
    use super::{faults, root};

    #[test]
    fn every_fault_fits_the_source() {
        let root = root().unwrap();
        for fault in faults(root).unwrap() {
            fault.source(root).unwrap();
        }
    }
}
