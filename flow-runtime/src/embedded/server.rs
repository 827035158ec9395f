//! Making a cluster and starting its server under a watcher. Everything here blocks.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    os::unix::process::CommandExt,
    path::Path,
    process::Child,
    thread::sleep,
    time::{Duration, Instant},
};

use super::{
    EmbeddedError,
    address::SUPERUSER,
    door::{Door, WATCHED_SERVER},
    folder::last_lines,
    pidfile::{PidFile, Process},
    site::Site,
};

/// Longest wait for a server that is alive and not ready; a long recovery after a crash ends well before.
const START_LIMIT: Duration = Duration::from_secs(300);
/// Pause between two looks at a server that starts.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// Starts that are tried before giving up: a port may be taken between finding and using it, and a crashed server's
/// last processes may still hold its memory.
const TRIES: u32 = 4;
/// A socket's path may have about 100 bytes; its name in the folder takes 16.
const LONGEST_SOCKET_FOLDER: usize = 84;

/// A server that this program has started.
#[derive(Debug)]
pub(super) struct Running {
    /// The shell that runs the server and watches its door; it ends when the server ends.
    pub(super) shell: Child,
    pub(super) door: Door,
    pub(super) pid: u32,
}

/// Starts the server of a site, making its cluster first when there is none. The caller holds the start lock, and no server runs.
///
/// A given `port` is kept; without one a free port is found.
pub(super) fn start(site: &Site, port: Option<u16>) -> Result<Running, EmbeddedError> {
    let data = site.folder.data();
    let left_over = PidFile::read(&data);
    if left_over.is_some() && !site.is_durable {
        // Without fsync a cluster that was not shut down may be broken, and nothing in it is worth a repair.
        fs::remove_dir_all(&data).map_err(EmbeddedError::file("remove", &data))?;
    } else if left_over.is_some_and(|server| server.process(&data) == Process::Other) {
        // The number belongs to another program now, and Postgres would take that for a running server.
        let pid_file = data.join("postmaster.pid");
        fs::remove_file(&pid_file).map_err(EmbeddedError::file("remove", pid_file))?;
    }
    site.folder.check_major(&site.binaries)?;
    if !data.exists() {
        make_cluster(site)?;
    }
    let mut attempt = 1;
    loop {
        match try_start(site, port) {
            Err(EmbeddedError::Start { .. }) if attempt < TRIES => sleep(Duration::from_millis(200) * attempt),
            done => return done,
        }
        attempt += 1;
    }
}

/// Makes the cluster beside its place and renames it, so that a killed `initdb` leaves nothing that looks complete.
fn make_cluster(site: &Site) -> Result<(), EmbeddedError> {
    let (folder, new) = (site.folder.path(), site.folder.path().join("data.new"));
    if new.exists() {
        fs::remove_dir_all(&new).map_err(EmbeddedError::file("remove", &new))?;
    }
    let password = site.folder.make_password(&site.account)?;
    let mut initdb = site.account.command(site.binaries.dir.join("initdb"), folder);
    initdb.arg("--pgdata").arg(&new).arg("--pwfile").arg(password).args(["--username", SUPERUSER]);
    // The socket is in a folder that is closed to others; the port is not, so it asks for the password.
    initdb.args(["--auth-local=trust", "--auth-host=password", "--encoding=UTF8", "--locale=C"]);
    if !site.is_durable {
        initdb.arg("--no-sync");
    }
    let output = initdb.output().map_err(|source| EmbeddedError::Program { program: "initdb".into(), source })?;
    if !output.status.success() {
        return Err(EmbeddedError::Initdb { path: folder.into(), output: last_lines(&output.stderr) });
    }
    fs::rename(&new, site.folder.data()).map_err(EmbeddedError::file("rename", new))
}

fn try_start(site: &Site, port: Option<u16>) -> Result<Running, EmbeddedError> {
    let folder = &site.folder;
    let before = PidFile::read(&folder.data());
    let port = match port {
        Some(port) => port,
        None => free_port().map_err(EmbeddedError::file("find a free port on", "127.0.0.1"))?,
    };
    let door = Door::make(folder.path(), &site.account)?;
    let mut shell = spawn(site, port)?;
    let started_at = Instant::now();
    loop {
        let now = PidFile::read(&folder.data());
        if let Some(server) = now
            && server.is_ready
            && !before.as_ref().is_some_and(|before| before.is_same_start(&server))
        {
            return Ok(Running { shell, door, pid: server.pid });
        }
        let ended = shell.try_wait().map_err(EmbeddedError::file("watch the server in", folder.path()))?;
        if ended.is_some() || started_at.elapsed() > START_LIMIT {
            // Dropping the door stops a server that is still there.
            return Err(EmbeddedError::Start { path: folder.path().into(), output: folder.log_end() });
        }
        sleep(LOOK_INTERVAL);
    }
}

fn spawn(site: &Site, port: u16) -> Result<Child, EmbeddedError> {
    let folder = &site.folder;
    let log = folder.make_log()?;
    let log_twin = log.try_clone().map_err(EmbeddedError::file("open", folder.path()))?;
    let mut shell = site.account.command("sh", folder.path());
    shell.args(["-c", WATCHED_SERVER, "flow-postgres", &site.linger_s.to_string()]);
    shell.arg(site.binaries.dir.join("postgres")).arg("-D").arg(folder.data());
    let mut setting = |name: &str, value: &str| {
        shell.args(["-c", &format!("{name}={value}")]);
    };
    setting("listen_addresses", "127.0.0.1");
    setting("port", &port.to_string());
    setting("unix_socket_directories", &socket_folder(folder.path()));
    setting("max_connections", "300");
    setting("timezone", "UTC");
    setting("log_timezone", "UTC");
    if !site.is_durable {
        setting("fsync", "off");
        setting("full_page_writes", "off");
    }
    // A process group of its own, so that Ctrl-C on the terminal reaches the program, which still needs its database, and not the server.
    shell.stdout(log).stderr(log_twin).process_group(0);
    shell.spawn().map_err(|source| EmbeddedError::Program { program: "sh".into(), source })
}

/// The folder for the server's socket, or nothing when its path cannot hold one.
fn socket_folder(folder: &Path) -> String {
    let path = folder.to_string_lossy();
    let is_plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    if is_plain && path.len() <= LONGEST_SOCKET_FOLDER { path.into_owned() } else { String::new() }
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
