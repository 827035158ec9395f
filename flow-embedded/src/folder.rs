//! The folders of embedded clusters: one home a user, and in it a folder a cluster, both checked before use.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{account::Account, error::EmbeddedError, output::last_lines, random::random_hex};

/// What a cluster's folder may hold, beside sockets. A folder with anything else in it is no cluster's folder, and is refused.
const OURS: [&str; 8] = ["data", "data.new", "users", "shut", "start.lock", "owner.lock", "server.log", "password"];

/// The file system in memory of Linux.
const MEMORY: &str = "/dev/shm";

/// How many bytes of memory must be free for the databases of tests to lie in memory: several times what they were seen to take.
const FREE_MEMORY: u64 = 8 << 30;

/// The folder `flow-<uid>` of a user, in `/var/tmp` or in memory. `/var/tmp` is kept over a restart of the machine and, unlike the home
/// of root, can be entered by the server's user.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    path: PathBuf,
    mode: u32,
}

impl Home {
    /// Opens the user's folder on disk, and refuses a folder that another user could have prepared.
    pub(crate) fn open(account: &Account) -> Result<Self, EmbeddedError> {
        Self::open_in("/var/tmp", account)
    }

    /// Opens the user's folder in memory where enough is free, else on disk. Each database of a test is hundreds of files, which a file
    /// system on disk makes slowly while as many files are deleted.
    pub(crate) fn open_in_memory(account: &Account) -> Result<Self, EmbeddedError> {
        Self::open_in(if has_free_memory() { MEMORY } else { "/var/tmp" }, account)
    }

    fn open_in(parent: &str, account: &Account) -> Result<Self, EmbeddedError> {
        let path = PathBuf::from(format!("{parent}/flow-{}", account.my_uid()));
        // A folder that belongs to root must be passable for the server's user; any other folder is passable for its owner only.
        let mode = if account.my_uid() == account.server_uid() { 0o700 } else { 0o711 };
        let home = Self { path, mode };
        home.make(&home.path)?;
        let meta = fs::symlink_metadata(&home.path).map_err(EmbeddedError::file("look at", &home.path))?;
        let problem = match () {
            () if !meta.is_dir() => Some("is not a folder"),
            () if meta.uid() != account.my_uid() => Some("belongs to another user"),
            () if meta.mode() & 0o022 != 0 => Some("can be written to by other users"),
            () => None,
        };
        match problem {
            Some(problem) => Err(EmbeddedError::UnsafeFolder { path: home.path, problem }),
            None => Ok(home),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a folder with this folder's mode, whatever the umask. A folder that exists is left as it is.
    pub(crate) fn make(&self, path: &Path) -> Result<(), EmbeddedError> {
        match fs::create_dir(path) {
            Ok(()) => fs::set_permissions(path, fs::Permissions::from_mode(self.mode))
                .map_err(EmbeddedError::file("set the mode of", path)),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(cause) => Err(EmbeddedError::file("create", path)(cause)),
        }
    }
}

/// The folder of one cluster, with its data, FIFO, start lock, password and log.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder when it is absent, and refuses a folder that is not an embedded cluster of this account.
    pub(crate) fn open(path: &Path, account: &Account) -> Result<Self, EmbeddedError> {
        let path = std::path::absolute(path).map_err(EmbeddedError::file("find", path))?;
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(EmbeddedError::file("create", parent))?;
        }
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => {
                return Err(EmbeddedError::file("create", &path)(cause));
            }
            _ => {}
        }
        account.check_parents(&path)?;
        let meta = fs::metadata(&path).map_err(EmbeddedError::file("look at", &path))?;
        if !meta.is_dir() {
            return Err(EmbeddedError::UnsafeFolder { path, problem: "is not a folder" });
        }
        if ![account.server_uid(), account.my_uid()].contains(&meta.uid()) {
            return Err(EmbeddedError::UnsafeFolder { path, problem: "belongs to another user" });
        }
        refuse_foreign(&path)?;
        if meta.uid() != account.server_uid() {
            account.give(&path)?;
        }
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// Refuses data that another major version of Postgres has written than `expected`, the version of the programs in `binaries`.
    pub(crate) fn check_major(&self, expected: u32, binaries: &Path) -> Result<(), EmbeddedError> {
        let Ok(found) = fs::read_to_string(self.data().join("PG_VERSION")) else { return Ok(()) };
        let found = found.trim().to_owned();
        if found == expected.to_string() {
            return Ok(());
        }
        Err(EmbeddedError::OtherMajor { path: self.path.clone(), found, expected, binaries: binaries.into() })
    }

    /// Reads the password of the cluster's superuser. Only the server's user and root can read the file.
    pub(crate) fn password(&self) -> io::Result<String> {
        fs::read_to_string(self.path.join("password"))
    }

    /// Writes a new random password and returns the file that holds it.
    pub(crate) fn make_password(&self, account: &Account) -> Result<PathBuf, EmbeddedError> {
        let path = self.path.join("password");
        let write = || {
            let _ = fs::remove_file(&path);
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?.write_all(random_hex()?.as_bytes())
        };
        write().map_err(EmbeddedError::file("write", &path))?;
        account.give(&path)?;
        Ok(path)
    }

    /// Opens the file whose lock serialises starts. The system frees the lock when the process that holds it ends or is killed.
    pub(crate) fn start_lock(&self) -> Result<File, EmbeddedError> {
        let path = self.path.join("start.lock");
        File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(EmbeddedError::file("create", &path))
    }

    /// Opens the server's log, and empties it.
    pub(crate) fn make_log(&self) -> Result<File, EmbeddedError> {
        let path = self.path.join("server.log");
        let log = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
        log.map_err(EmbeddedError::file("write", path))
    }

    /// The last lines of the log, on one line.
    pub(crate) fn log_end(&self) -> String {
        last_lines(&fs::read(self.path.join("server.log")).unwrap_or_default())
    }
}

/// Whether the memory and the file system in memory both have [`FREE_MEMORY`] left. Containers often have a small file system in memory.
fn has_free_memory() -> bool {
    let is_enough = |kilobytes: &str| kilobytes.trim().parse::<u64>().is_ok_and(|free| free << 10 >= FREE_MEMORY);
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.strip_suffix("kB"));
    let df = Command::new("df").args(["-k", "--output=avail", MEMORY]).stdin(Stdio::null()).output();
    let free = df.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    available.is_some_and(is_enough) && free.lines().nth(1).is_some_and(is_enough)
}

fn refuse_foreign(path: &Path) -> Result<(), EmbeddedError> {
    for entry in fs::read_dir(path).map_err(EmbeddedError::file("list", path))? {
        let name = entry.map_err(EmbeddedError::file("list", path))?.file_name();
        let name = name.to_string_lossy();
        if !OURS.contains(&&*name) && !name.starts_with(".s.PGSQL.") {
            return Err(EmbeddedError::ForeignFolder { path: path.into(), found: name.into_owned() });
        }
    }
    Ok(())
}
