//! A package of a lock file, and what was found in its source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One package that a lock file names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where cargo gets it from.
    pub origin: Origin,
}

/// Where cargo gets a package from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A folder of the project: a lock file names no path.
    Path,
    /// A git repository.
    Git {
        /// The repository's address, without a password.
        url: String,
    },
    /// A registry.
    Registry {
        /// The host of its index; empty for a registry in a folder.
        host: String,
        /// Whether it is the one that cargo uses when nothing else is said.
        is_default: bool,
    },
}

/// A package and what was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audited {
    /// The package.
    pub package: Package,
    /// What was found.
    pub finding: Finding,
}

/// What was found of a package on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Its source, read.
    Read(Facts),
    /// It comes from a registry, and its source is not on this machine.
    NotCached,
    /// It comes from a path or from git, where a lock file does not tell the folder.
    NotInRegistry,
    /// Its source is here and cannot be read, for the reason given.
    Unreadable(String),
}

/// What a package's source says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Facts {
    /// The licence expression of its manifest, or the file it names instead.
    pub licence: Option<String>,
    /// The oldest Rust it says it works with.
    pub rust_version: Option<String>,
    /// Whether it runs a program of its own while it is built.
    pub has_build_script: bool,
    /// The native library it links.
    pub links: Option<String>,
    /// Size and `unsafe` of its Rust files.
    pub totals: Totals,
}

/// Counts over Rust files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Rust files.
    pub files: u64,
    /// Lines in them.
    pub lines: u64,
    /// The keyword `unsafe` in them, outside of comments and text.
    pub unsafe_uses: u64,
}

impl std::ops::AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.lines += other.lines;
        self.unsafe_uses += other.unsafe_uses;
    }
}

impl Audited {
    /// What the source says, when it was read.
    pub fn facts(&self) -> Option<&Facts> {
        match &self.finding {
            Finding::Read(facts) => Some(facts),
            _ => None,
        }
    }
}

impl Origin {
    /// The origin in one or two words.
    pub fn in_words(&self) -> String {
        match self {
            Self::Path => "path".into(),
            Self::Git { url } => format!("git {url}"),
            Self::Registry { is_default: true, .. } => "registry".into(),
            Self::Registry { host, .. } if host.is_empty() => "local registry".into(),
            Self::Registry { host, .. } => format!("registry {host}"),
        }
    }
}
