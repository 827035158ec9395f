//! From the text of a lock file to its packages.

use std::path::Path;

use anyhow::{Context, bail};
use cargo_lock::{Lockfile, SourceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::package::{Origin, Package};

/// What an audit starts from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// What to call the lock file in the report.
    pub title: String,
    /// The lock file's text.
    pub lock: String,
}

impl Request {
    /// Reads a lock file and checks that it is one.
    ///
    /// # Errors
    /// Says what is wrong with the file and what to name instead.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let path = if path.is_dir() { &path.join("Cargo.lock") } else { path };
        let real = path.canonicalize();
        let shown = real.as_deref().unwrap_or(path).display();
        let lock = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the lock file `{shown}`; name an existing Cargo.lock"))?;
        parse(&lock).with_context(|| {
            format!("`{shown}` is not a lock file that cargo could have written; write it anew with `cargo generate-lockfile`")
        })?;
        Ok(Self { title: shown.to_string(), lock })
    }
}

/// Lists the packages of a lock file by name and version.
///
/// # Errors
/// When the text is no lock file, or one without packages.
pub fn parse(lock: &str) -> anyhow::Result<Vec<Package>> {
    let lock: Lockfile = lock.parse()?;
    if lock.packages.is_empty() {
        bail!("it names no package");
    }
    let mut packages = lock.packages;
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    let package = |package: cargo_lock::Package| Package {
        name: package.name.to_string(),
        version: package.version.to_string(),
        origin: package.source.as_ref().map_or(Origin::Path, origin),
    };
    Ok(packages.into_iter().map(package).collect())
}

fn origin(source: &SourceId) -> Origin {
    let url = source.url();
    if source.is_git() {
        let mut url = url.clone();
        // An address may carry somebody's password, which has no place in a report.
        let _ = url.set_password(None);
        url.set_query(None);
        url.set_fragment(None);
        return Origin::Git { url: url.to_string() };
    }
    if source.is_path() {
        return Origin::Path;
    }
    Origin::Registry { host: url.host_str().unwrap_or_default().to_owned(), is_default: source.is_default_registry() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"version = 4

[[package]]
name = "zebra"
version = "0.1.0"
dependencies = ["from-git", "private"]

[[package]]
name = "private"
version = "1.2.3"
source = "sparse+https://packages.example.com/index/"
checksum = "8a5b8a6ac5ba2bb1d6d5d0b6d1ef5ba7c1fc3ae1fdfb5bd2a0b5ed2bb49f1d2c"

[[package]]
name = "from-git"
version = "0.3.0"
source = "git+https://me:s3cret@git.example.com/from-git?branch=main#0123456789abcdef0123456789abcdef01234567"
"#;

    #[test]
    fn packages_of_every_origin_are_listed_by_name() {
        let packages = parse(LOCK).unwrap();
        let seen: Vec<_> = packages.iter().map(|p| (p.name.as_str(), p.origin.in_words())).collect();
        assert_eq!(
            seen,
            [
                ("from-git", "git https://me@git.example.com/from-git".into()),
                ("private", "registry packages.example.com".into()),
                ("zebra", "path".into()),
            ]
        );
    }

    #[test]
    fn versions_are_ordered_as_versions() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"0.10.0\"\n\n[[package]]\nname = \"a\"\nversion = \"0.9.0\"\n";
        let versions: Vec<_> = parse(lock).unwrap().into_iter().map(|package| package.version).collect();
        assert_eq!(versions, ["0.9.0", "0.10.0"]);
    }

    #[test]
    fn what_is_no_lock_file_is_refused() {
        for text in ["", "version = 4\n", "<<<<<<< HEAD\nversion = 4\n", "[[package]]\nname = 1\n"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_missing_lock_file_is_told_with_its_path() {
        let error = Request::read(Path::new("/no/such/Cargo.lock")).unwrap_err();
        assert_eq!(error.to_string(), "cannot read the lock file `/no/such/Cargo.lock`; name an existing Cargo.lock");
    }
}
