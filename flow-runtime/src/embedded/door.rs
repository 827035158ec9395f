//! The door of a server: a FIFO that every program using the server holds open, so that the server ends with the last of them.
//!
//! The system closes the door of a program that is killed, so nothing is left behind and no program has to tidy up.

use std::{
    fs,
    io::{self, Write},
    os::fd::OwnedFd,
    path::Path,
};

use tokio::net::unix::pipe;

use super::{EmbeddedError, account::Account, folder::last_lines};

/// Runs a server and watches its door; runs in the cluster's folder, with the seconds to linger and then the server's command line.
///
/// Whoever comes in writes one line. When the last one has left, the watcher lingers, takes the door away, and looks for a line once more:
/// one that is there means that somebody came in before the door was gone, so the door is put back. Nobody is ever locked in a server that
/// is about to end. A server that ends by itself takes its watcher along, so that a door without a watcher tells that nobody will stop the
/// server.
pub(super) const WATCHED_SERVER: &str = r#"
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

/// An open door. The server runs at least until this is dropped.
#[derive(Debug)]
pub(super) struct Door {
    // Closed on exec, so that no child keeps the server running.
    _hold: OwnedFd,
}

/// What was found at a folder's door.
#[derive(Debug)]
pub(super) enum Entry {
    /// The door is watched, and this program is in.
    In(Door),
    /// There is a door and nobody watches it: the server is gone, or will not be stopped by anybody.
    Unwatched,
    /// There is no door: no server was started, or it is about to end.
    NoDoor,
}

impl Door {
    /// Makes a new door and holds it, before there is a watcher: the server that is started next cannot outlive this program.
    pub(super) fn make(folder: &Path, account: &Account) -> Result<Self, EmbeddedError> {
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
        // Opened for reading too: with only one end in use, this would wait for the watcher, which waits for this.
        let hold = fs::File::options().read(true).write(true).open(&path).map_err(EmbeddedError::file("open", path))?;
        Ok(Self { _hold: hold.into() })
    }

    /// Goes in by the door of a folder. Never waits.
    pub(super) fn enter(folder: &Path) -> Result<Entry, EmbeddedError> {
        let path = folder.join("users");
        // The number of ENXIO, "nobody reads this FIFO", on every Unix.
        const NO_READER: i32 = 6;
        let sender = match pipe::OpenOptions::new().open_sender(&path) {
            Ok(sender) => sender,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Entry::NoDoor),
            Err(cause) if cause.raw_os_error() == Some(NO_READER) => return Ok(Entry::Unwatched),
            Err(cause) => return Err(EmbeddedError::file("open", path)(cause)),
        };
        let mut hold = fs::File::from(sender.into_blocking_fd().map_err(EmbeddedError::file("open", &path))?);
        // Fails when the watcher has just ended.
        Ok(match hold.write_all(b"\n") {
            Ok(()) => Entry::In(Self { _hold: hold.into() }),
            Err(_) => Entry::NoDoor,
        })
    }
}
