//! Finds the server programs on this machine.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{account::Account, env::env_value, error::EmbeddedError, output::last_lines};

/// The oldest major version of Postgres that can be used.
const OLDEST_MAJOR: u32 = 15;

/// A folder with `postgres` and `initdb`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binaries {
    pub(crate) dir: PathBuf,
    pub(crate) major: u32,
}

impl Binaries {
    /// The programs in the folder that `FLOW_PG_BIN` names, else those of this machine. `None` when there are none or `FLOW_PG_BIN` is
    /// `none`; the reasons are added to `tried`. Blocks.
    pub(crate) fn installed(account: &Account, tried: &mut Vec<String>) -> Result<Option<Self>, EmbeddedError> {
        match env_value("FLOW_PG_BIN") {
            Some(none) if none == "none" => {
                tried.push("FLOW_PG_BIN=none hides those of this machine".into());
                Ok(None)
            }
            Some(dir) => {
                Self::at(Path::new(&dir), account).map(Some).map_err(|reason| EmbeddedError::Binaries { reason })
            }
            None => Ok(Self::on_this_machine(account, tried)),
        }
    }

    /// Looks at one folder. The error says in a few words why the folder cannot be used.
    pub(crate) fn at(dir: &Path, account: &Account) -> Result<Self, String> {
        let server = dir.join("postgres");
        // Postgres finds its other files relative to its real place, so the links of a folder like /usr/local/bin are followed.
        let real = fs::canonicalize(&server).map_err(|_| format!("`{}` has no `postgres`", dir.display()))?;
        let dir = real.parent().unwrap_or(dir).to_path_buf();
        if !dir.join("initdb").is_file() {
            return Err(format!("`{}` has no `initdb`", dir.display()));
        }
        let output = account.command(&real, Path::new("/")).arg("--version").output();
        let output = output.map_err(|cause| format!("`{}` cannot be run: {cause}", real.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        match parse_major(&text) {
            Some(major) if major >= OLDEST_MAJOR => Ok(Self { dir, major }),
            Some(major) => Err(format!("`{}` is PostgreSQL {major}, older than {OLDEST_MAJOR}", dir.display())),
            None => Err(format!("`{} --version` says: {}", real.display(), last_lines(&output.stderr))),
        }
    }

    fn on_this_machine(account: &Account, tried: &mut Vec<String>) -> Option<Self> {
        let mut places: Vec<PathBuf> = configured().into_iter().chain(usual_places()).chain(on_path()).collect();
        let mut seen = Vec::new();
        places.retain(|place| {
            let new = place.join("postgres").is_file() && !seen.contains(place);
            seen.push(place.clone());
            new
        });
        if places.is_empty() {
            tried.push("no server programs on this machine".into());
        }
        places.iter().find_map(|place| Self::at(place, account).map_err(|reason| tried.push(reason)).ok())
    }
}

/// The folder that `pg_config` names, which may hold client programs only.
fn configured() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().into())
}

/// The folders into which package managers put server programs, newest version first.
fn usual_places() -> Vec<PathBuf> {
    // A folder, what stands before the version in the names of its entries, and the programs' place in such an entry.
    const PLACES: [(&str, &str, &str); 6] = [
        ("/usr/lib/postgresql", "", "bin"),
        ("/usr", "pgsql-", "bin"),
        ("/opt/homebrew/opt", "postgresql@", "bin"),
        ("/usr/local/opt", "postgresql@", "bin"),
        ("/home/linuxbrew/.linuxbrew/opt", "postgresql@", "bin"),
        ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
    ];
    let mut found: Vec<(u32, PathBuf)> = PLACES
        .iter()
        .flat_map(|(folder, prefix, programs)| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.filter_map(move |entry| {
                let major = entry.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()?;
                Some((major, entry.path().join(programs)))
            })
        })
        .collect();
    found.sort_by_key(|(major, _)| std::cmp::Reverse(*major));
    found.into_iter().map(|(_, place)| place).collect()
}

fn on_path() -> Vec<PathBuf> {
    env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default()
}

/// Reads the major version from what `postgres --version` prints.
fn parse_major(text: &str) -> Option<u32> {
    let version = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read_from_every_spelling() {
        assert_eq!(parse_major("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"), Some(15));
        assert_eq!(parse_major("postgres (PostgreSQL) 18beta2"), Some(18));
        assert_eq!(parse_major("postgres (PostgreSQL) 19devel"), Some(19));
        assert_eq!(parse_major(""), None);
    }

    #[test]
    fn a_folder_without_a_server_is_refused_by_name() {
        let account = Account::current().unwrap();
        let reason = Binaries::at(Path::new("/proc"), &account).unwrap_err();
        assert_eq!(reason, "`/proc` has no `postgres`");
    }
}
