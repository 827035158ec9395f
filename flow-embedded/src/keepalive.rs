//! What keeps a server alive: a FIFO in its folder that each program using the server holds open.
//!
//! The kernel closes a program's hold when the program dies, also when it is killed. With no holder left, a watcher beside the server stops
//! the server, so no program has to stop it.

use std::{
    fs,
    io::{self, Write},
    os::fd::OwnedFd,
    path::Path,
};

use tokio::net::unix::pipe;

use crate::{account::Account, error::EmbeddedError, output::last_lines};

/// The shell script that runs a server and watches the FIFO `users`. Its working folder is the cluster's, its arguments are the seconds to
/// linger and the server's command line.
///
/// A program that joins opens the FIFO and writes one line. When the last holder has left, the watcher lingers, renames the FIFO so that
/// nobody else can open it, and reads once more. A line that is there by then means that a program joined before the renaming, so the
/// watcher renames the FIFO back: no program ever holds a server that is about to stop. When the server ends by itself, the script ends the
/// watcher, so that a FIFO without a reader means that nobody watches a server here.
pub(crate) const WATCHED_SERVER: &str = r#"
linger=$1
shift
"$@" &
server=$!
(
    exec 3< users
    while :; do
        while read -r line <&3; do :; done
        sleep "$linger"
        mv users shut
        read -r line <&3 || break
        mv shut users
    done
    kill -s INT "$server"
) &
watcher=$!
wait "$server"
code=$?
kill "$watcher" 2> /dev/null
rm -f shut
exit "$code"
"#;

/// A hold on a server's FIFO. The server runs at least until the hold is dropped.
#[derive(Debug)]
pub(crate) struct KeepAlive {
    // The file is closed on exec, so that no child process of this program keeps the server running.
    _hold: OwnedFd,
}

/// What a program finds when it joins the server of a folder.
#[derive(Debug)]
pub(crate) enum Joined {
    /// The FIFO is watched, and this program holds it now.
    Held(KeepAlive),
    /// There is a FIFO without a watcher: the server is gone, or it runs and nobody would stop it.
    Unwatched,
    /// There is no FIFO: no server was started, or the server is about to stop.
    Absent,
}

impl KeepAlive {
    /// Makes a new FIFO and holds it before the watcher starts, so that the watcher of the server which is started next waits for the end
    /// of this program.
    pub(crate) fn make(folder: &Path, account: &Account) -> Result<Self, EmbeddedError> {
        let path = folder.join("users");
        for old in [&path, &folder.join("shut")] {
            match fs::remove_file(old) {
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                    return Err(EmbeddedError::file("remove", old)(cause));
                }
                _ => {}
            }
        }
        let made = account.command("mkfifo", folder).args(["-m", "600", "users"]).output();
        let made = made.map_err(|source| EmbeddedError::Program { program: "mkfifo".into(), source })?;
        if !made.status.success() {
            let source = io::Error::other(last_lines(&made.stderr));
            return Err(EmbeddedError::file("create", path)(source));
        }
        // The FIFO is opened for reading too: opening the writing end alone waits for a reader, and the watcher is started only afterwards.
        let hold = fs::File::options().read(true).write(true).open(&path).map_err(EmbeddedError::file("open", path))?;
        Ok(Self { _hold: hold.into() })
    }

    /// Opens the FIFO of a folder. Never waits.
    pub(crate) fn join(folder: &Path) -> Result<Joined, EmbeddedError> {
        let path = folder.join("users");
        // The number of ENXIO, "nobody reads this FIFO", on every Unix.
        const NO_READER: i32 = 6;
        let sender = match pipe::OpenOptions::new().open_sender(&path) {
            Ok(sender) => sender,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Joined::Absent),
            Err(cause) if cause.raw_os_error() == Some(NO_READER) => return Ok(Joined::Unwatched),
            Err(cause) => return Err(EmbeddedError::file("open", path)(cause)),
        };
        let mut hold = fs::File::from(sender.into_blocking_fd().map_err(EmbeddedError::file("open", &path))?);
        // Writing fails when the watcher has just ended.
        Ok(match hold.write_all(b"\n") {
            Ok(()) => Joined::Held(Self { _hold: hold.into() }),
            Err(_) => Joined::Absent,
        })
    }
}
