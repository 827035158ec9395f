//! Where cargo keeps the sources of registry packages on this machine.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use super::{
    manifest,
    package::{Audited, Facts, Finding, Origin, Package},
    rust_source,
};

/// The source folders of cargo, one a registry.
#[derive(Debug, Clone)]
pub struct Registry {
    folders: Vec<PathBuf>,
}

impl Registry {
    /// Finds the folders under `CARGO_HOME`, else under `.cargo` of the user's home. None at all is no error: nothing is cached then.
    pub fn of_this_machine() -> Self {
        let home = env::var_os("CARGO_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
        Self::of_cargo_home(&home.unwrap_or_default())
    }

    /// Finds the folders under one cargo home.
    pub fn of_cargo_home(home: &Path) -> Self {
        let entries = fs::read_dir(home.join("registry/src")).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        folders.sort();
        Self { folders }
    }

    /// Looks at a package's source. Whatever is wrong with it is part of the finding.
    pub fn inspect(&self, package: Package) -> Audited {
        self.look(package, read)
    }

    /// Looks at a package's manifest only.
    pub fn glance(&self, package: Package) -> Audited {
        self.look(package, manifest::read)
    }

    fn look(&self, package: Package, read: fn(&Path) -> anyhow::Result<Facts>) -> Audited {
        let finding = match &package.origin {
            Origin::Path | Origin::Git { .. } => Finding::NotInRegistry,
            Origin::Registry { host, is_default } => match self.find(&package, host, *is_default) {
                None => Finding::NotCached,
                Some(folder) => match read(&folder) {
                    Ok(facts) => Finding::Read(facts),
                    Err(cause) => Finding::Unreadable(format!("{cause:#}")),
                },
            },
        };
        Audited { package, finding }
    }

    /// Cargo names a registry's folder for the host it downloads from, which a mirror of the default registry changes.
    fn find(&self, package: &Package, host: &str, is_default: bool) -> Option<PathBuf> {
        let is_of_host = |folder: &&PathBuf| {
            let name = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            !host.is_empty() && name.strip_prefix(host).is_some_and(|rest| rest.starts_with('-'))
        };
        let own = self.folders.iter().filter(is_of_host);
        let others = self.folders.iter().filter(|folder| is_default && !is_of_host(folder));
        let name = format!("{}-{}", package.name, package.version);
        own.chain(others).map(|folder| folder.join(&name)).find(|folder| folder.join("Cargo.toml").is_file())
    }
}

fn read(folder: &Path) -> anyhow::Result<Facts> {
    let mut facts = manifest::read(folder)?;
    facts.totals = rust_source::count(folder)?;
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cargo home with one package in two registries, and one that only the second has.
    struct Home(PathBuf);

    impl Home {
        fn new(test: &str) -> Self {
            let home = Self(env::temp_dir().join(format!("flow-audit-{test}-{}", std::process::id())));
            home.add("mirror.example-0123456789abcdef/both-1.0.0", "MIT", "fn a() {}\n");
            home.add("packages.example.com-fedcba9876543210/both-1.0.0", "Apache-2.0", "unsafe fn a() {}\n\n");
            home.add("packages.example.com-fedcba9876543210/theirs-2.0.0", "Zlib", "");
            home
        }

        fn add(&self, folder: &str, licence: &str, source: &str) {
            let folder = self.0.join("registry/src").join(folder);
            fs::create_dir_all(folder.join("src")).unwrap();
            fs::write(folder.join("Cargo.toml"), format!("[package]\nname = \"x\"\nlicense = \"{licence}\"\n"))
                .unwrap();
            fs::write(folder.join("src/lib.rs"), source).unwrap();
        }
    }

    impl Drop for Home {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn package(name: &str, version: &str, host: &str, is_default: bool) -> Package {
        let origin = Origin::Registry { host: host.into(), is_default };
        Package { name: name.into(), version: version.into(), origin }
    }

    fn licence(audited: &Audited) -> Option<&str> {
        audited.facts()?.licence.as_deref()
    }

    #[test]
    fn each_registry_has_its_own_folder() {
        let home = Home::new("own");
        let registry = Registry::of_cargo_home(&home.0);
        let theirs = registry.inspect(package("both", "1.0.0", "packages.example.com", false));
        assert_eq!(licence(&theirs), Some("Apache-2.0"));
        let totals = theirs.facts().unwrap().totals;
        assert_eq!((totals.files, totals.lines, totals.unsafe_uses), (1, 2, 1));
        // The default registry's index host is none of the folders: a mirror serves it.
        assert_eq!(licence(&registry.inspect(package("both", "1.0.0", "index.example", true))), Some("MIT"));
    }

    #[test]
    fn what_is_not_on_the_machine_is_a_finding() {
        let home = Home::new("not-cached");
        let registry = Registry::of_cargo_home(&home.0);
        for missing in [
            package("both", "1.0.1", "packages.example.com", false),
            package("theirs", "2.0.0", "unknown.example", false),
            package("both", "1.0.0", "packages.example", false),
        ] {
            assert_eq!(registry.inspect(missing).finding, Finding::NotCached);
        }
        let nothing = Registry::of_cargo_home(Path::new("/no/such/home"));
        assert_eq!(nothing.inspect(package("both", "1.0.0", "x", true)).finding, Finding::NotCached);
        let local = Package { name: "a".into(), version: "1.0.0".into(), origin: Origin::Path };
        assert_eq!(registry.inspect(local).finding, Finding::NotInRegistry);
    }

    #[test]
    fn a_broken_manifest_is_a_finding() {
        let home = Home::new("broken");
        fs::write(home.0.join("registry/src/mirror.example-0123456789abcdef/both-1.0.0/Cargo.toml"), "[package")
            .unwrap();
        let registry = Registry::of_cargo_home(&home.0);
        let finding = registry.inspect(package("both", "1.0.0", "mirror.example", true)).finding;
        assert!(matches!(finding, Finding::Unreadable(reason) if reason.contains("Cargo.toml")));
    }
}
