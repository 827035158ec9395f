//! The user who runs the server: the user of this process, or `postgres` or `nobody` for root, because Postgres refuses to run as root.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::{
        fs::{MetadataExt, chown},
        process::CommandExt,
    },
    path::Path,
    process::{Command, Stdio},
};

use crate::error::EmbeddedError;

/// The user of this process, and the user of its server.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    me: u32,
    stand_in: Option<User>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct User {
    name: String,
    uid: u32,
    gid: u32,
}

impl Account {
    pub(crate) fn current() -> Result<Self, EmbeddedError> {
        let me = current_uid()?;
        if me != 0 {
            return Ok(Self { me, stand_in: None });
        }
        let users = fs::read("/etc/passwd").map_err(EmbeddedError::file("read", "/etc/passwd"))?;
        let users = String::from_utf8_lossy(&users);
        let stand_in = ["postgres", "nobody"].iter().find_map(|name| find_user(&users, name));
        Ok(Self { me, stand_in: Some(stand_in.ok_or(EmbeddedError::NoAccount)?) })
    }

    /// The user id of this process.
    pub(crate) fn my_uid(&self) -> u32 {
        self.me
    }

    /// The user id of the server.
    pub(crate) fn server_uid(&self) -> u32 {
        self.stand_in.as_ref().map_or(self.me, |user| user.uid)
    }

    /// A command that runs as the server's user in `folder`, with an empty standard input. Of this program's environment the command gets
    /// only `PATH` and `LD_LIBRARY_PATH`.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).stdin(Stdio::null()).env_clear();
        for name in ["PATH", "LD_LIBRARY_PATH"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("LC_ALL", "C").env("TZ", "UTC");
        if let Some(user) = &self.stand_in {
            command.uid(user.uid).gid(user.gid);
        }
        command
    }

    /// Makes the server's user the owner of `path`.
    pub(crate) fn give(&self, path: &Path) -> Result<(), EmbeddedError> {
        let Some(user) = &self.stand_in else { return Ok(()) };
        chown(path, Some(user.uid), Some(user.gid)).map_err(EmbeddedError::file("change the owner of", path))
    }

    /// Refuses a path with a parent that a server's user other than this process's user cannot enter. For this process's own user the
    /// operating system's error is enough.
    pub(crate) fn check_parents(&self, path: &Path) -> Result<(), EmbeddedError> {
        let Some(user) = &self.stand_in else { return Ok(()) };
        for parent in path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()) {
            let meta = fs::metadata(parent).map_err(EmbeddedError::file("look at", parent))?;
            if !user.can_enter(&meta) {
                return Err(EmbeddedError::NotEnterable { path: parent.into(), user: user.name.clone() });
            }
        }
        Ok(())
    }
}

impl User {
    fn can_enter(&self, folder: &fs::Metadata) -> bool {
        let bit = match () {
            () if folder.uid() == self.uid => 0o100,
            () if folder.gid() == self.gid => 0o010,
            () => 0o001,
        };
        folder.mode() & bit != 0
    }
}

fn current_uid() -> Result<u32, EmbeddedError> {
    if let Ok(process) = fs::metadata("/proc/self") {
        return Ok(process.uid());
    }
    let failed = |source| EmbeddedError::Program { program: "id -u".into(), source };
    let output = Command::new("id").arg("-u").stdin(Stdio::null()).output().map_err(failed)?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().map_err(|_| failed(io::Error::other(format!("it printed `{}`", text.trim()))))
}

/// Finds the user `name` in the text of a passwd file; never a user with the id of root.
fn find_user(users: &str, name: &str) -> Option<User> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == name).then_some(())?;
        let uid = parse_id(fields.nth(1)?)?;
        let gid = parse_id(fields.next()?)?;
        (uid != 0).then(|| User { name: name.into(), uid, gid })
    })
}

/// Reads a user or group id. macOS writes the id of `nobody` as -2.
fn parse_id(text: &str) -> Option<u32> {
    text.parse().ok().or_else(|| text.parse::<i32>().ok().map(i32::cast_unsigned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_its_whole_name() {
        let users =
            "root:x:0:0:root:/root:/bin/sh\npostgresql:x:7:7::/:\npostgres:x:101:104:PG,,,:/var/lib:/bin/bash\n";
        assert_eq!(find_user(users, "postgres"), Some(User { name: "postgres".into(), uid: 101, gid: 104 }));
        assert_eq!(find_user(users, "nobody"), None);
        assert_eq!(find_user(users, "root"), None);
    }

    #[test]
    fn a_negative_id_wraps() {
        assert_eq!(find_user("nobody:*:-2:-2::/:", "nobody").map(|user| user.uid), Some(4_294_967_294));
    }
}
