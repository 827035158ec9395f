//! What a package's manifest says.

use std::{fs, path::Path};

use anyhow::Context;
use serde::Deserialize;

use super::package::{Facts, Totals};

#[derive(Deserialize)]
struct Manifest {
    package: Section,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Section {
    license: Option<Text>,
    license_file: Option<Text>,
    rust_version: Option<Text>,
    links: Option<String>,
    build: Option<Build>,
}

/// A field that may be taken from a workspace, which a published manifest does not do any more.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Given(String),
    Inherited(#[expect(dead_code, reason = "only the shape matters")] toml::Table),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Build {
    Wanted(bool),
    Script(#[expect(dead_code, reason = "which file it is does not matter")] String),
}

/// Reads the manifest in a package's folder. Counts are left at zero.
pub(super) fn read(folder: &Path) -> anyhow::Result<Facts> {
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let manifest: Manifest = toml::from_str(&text).with_context(|| format!("`{}` is no manifest", path.display()))?;
    let Section { license, license_file, rust_version, links, build } = manifest.package;
    let licence = given(license).or_else(|| given(license_file).map(|file| format!("see {file}")));
    let has_build_script = match build {
        Some(Build::Wanted(false)) => false,
        Some(Build::Script(_)) => true,
        // Cargo takes this file when nothing is said.
        Some(Build::Wanted(true)) | None => folder.join("build.rs").is_file(),
    };
    Ok(Facts { licence, rust_version: given(rust_version), has_build_script, links, totals: Totals::default() })
}

fn given(field: Option<Text>) -> Option<String> {
    match field {
        Some(Text::Given(text)) => Some(text),
        Some(Text::Inherited(_)) | None => None,
    }
}
