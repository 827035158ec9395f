//! Packages that a lock file names in several versions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::package::Package;

/// A name with several versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Duplicate {
    /// The name.
    pub name: String,
    /// Its versions, in the order of the packages.
    pub versions: Vec<String>,
}

/// Finds the names with more than one version, by name.
pub fn find_duplicates(packages: &[Package]) -> Vec<Duplicate> {
    let mut versions: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Package { name, version, .. } in packages {
        let seen = versions.entry(name).or_default();
        // Two registries may have one version each.
        if !seen.contains(version) {
            seen.push(version.clone());
        }
    }
    let several = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
    several.map(|(name, versions)| Duplicate { name: name.into(), versions }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lockfile_audit::Origin;

    #[test]
    fn a_name_with_one_version_is_no_duplicate() {
        let package =
            |name: &str, version: &str| Package { name: name.into(), version: version.into(), origin: Origin::Path };
        let packages = [package("b", "1.0.0"), package("a", "1.0.0"), package("b", "2.0.0"), package("a", "1.0.0")];
        let found = find_duplicates(&packages);
        assert_eq!(found, [Duplicate { name: "b".into(), versions: vec!["1.0.0".into(), "2.0.0".into()] }]);
    }
}
