//! Makes a cluster and starts its server under a watcher. Everything here blocks.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    os::unix::process::CommandExt,
    path::Path,
    process::Child,
    thread::sleep,
    time::{Duration, Instant},
};

use crate::{
    address::SUPERUSER,
    error::EmbeddedError,
    keepalive::{KeepAlive, WATCHED_SERVER},
    output::last_lines,
    pidfile::{PidFile, Process},
    setup::Setup,
};

/// The longest wait for a server that is alive and not ready. A long recovery after a crash takes less.
const START_LIMIT: Duration = Duration::from_secs(300);
/// The pause between two looks at a server that starts.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// How many starts are tried. A start may fail because another program has taken the port since it was found free, or because the last
/// processes of a crashed server still hold its memory.
const TRIES: u32 = 4;
/// The longest path of a folder for the server's socket, in bytes: a socket's path may have about 100, and the socket's name takes 16.
const LONGEST_SOCKET_FOLDER: usize = 84;

/// A server that this program has started.
#[derive(Debug)]
pub(crate) struct Running {
    /// The shell that runs the server and its watcher; the shell ends when the server ends.
    pub(crate) shell: Child,
    pub(crate) keepalive: KeepAlive,
    pub(crate) pid: u32,
}

/// Starts a server, and makes its cluster first when there is none. The caller holds the start lock, and no server runs in the folder.
///
/// The server uses `port`, or a free port when `port` is `None`. Data of a cluster without fsync that was not shut down is removed.
pub(crate) fn start(setup: &Setup, port: Option<u16>) -> Result<Running, EmbeddedError> {
    let data = setup.folder.data();
    let left_over = PidFile::read(&data);
    if left_over.is_some() && !setup.is_durable {
        // A cluster without fsync that was not shut down may be broken, and its data is for tests only, so it is made anew.
        fs::remove_dir_all(&data).map_err(EmbeddedError::file("remove", &data))?;
    } else if left_over.is_some_and(|server| server.process(&data) == Process::Other) {
        // The pid file's number belongs to another program now, and Postgres would take that program for a running server.
        let pid_file = data.join("postmaster.pid");
        fs::remove_file(&pid_file).map_err(EmbeddedError::file("remove", pid_file))?;
    }
    setup.folder.check_major(setup.binaries.major, &setup.binaries.dir)?;
    if !data.exists() {
        make_cluster(setup)?;
    }
    let mut attempt = 1;
    loop {
        match try_start(setup, port) {
            Err(EmbeddedError::Start { .. }) if attempt < TRIES => sleep(Duration::from_millis(200) * attempt),
            done => return done,
        }
        attempt += 1;
    }
}

/// Makes the cluster in `data.new` and renames it to `data`, so that a killed `initdb` leaves nothing that looks complete.
fn make_cluster(setup: &Setup) -> Result<(), EmbeddedError> {
    let (folder, new) = (setup.folder.path(), setup.folder.path().join("data.new"));
    if new.exists() {
        fs::remove_dir_all(&new).map_err(EmbeddedError::file("remove", &new))?;
    }
    let password = setup.folder.make_password(&setup.account)?;
    let mut initdb = setup.account.command(setup.binaries.dir.join("initdb"), folder);
    initdb.arg("--pgdata").arg(&new).arg("--pwfile").arg(password).args(["--username", SUPERUSER]);
    // Connections over the socket need no password, since its folder is closed to other users. Connections over the port need the password.
    initdb.args(["--auth-local=trust", "--auth-host=password", "--encoding=UTF8", "--locale=C"]);
    if !setup.is_durable {
        initdb.arg("--no-sync");
    }
    let output = initdb.output().map_err(|source| EmbeddedError::Program { program: "initdb".into(), source })?;
    if !output.status.success() {
        return Err(EmbeddedError::Initdb { path: folder.into(), output: last_lines(&output.stderr) });
    }
    fs::rename(&new, setup.folder.data()).map_err(EmbeddedError::file("rename", new))
}

fn try_start(setup: &Setup, port: Option<u16>) -> Result<Running, EmbeddedError> {
    let folder = &setup.folder;
    let before = PidFile::read(&folder.data());
    let port = match port {
        Some(port) => port,
        None => free_port().map_err(EmbeddedError::file("find a free port on", "127.0.0.1"))?,
    };
    let keepalive = KeepAlive::make(folder.path(), &setup.account)?;
    let mut shell = spawn(setup, port)?;
    let started_at = Instant::now();
    loop {
        let now = PidFile::read(&folder.data());
        if let Some(server) = now
            && server.is_ready
            && !before.as_ref().is_some_and(|before| before.is_same_start(&server))
        {
            return Ok(Running { shell, keepalive, pid: server.pid });
        }
        let ended = shell.try_wait().map_err(EmbeddedError::file("watch the server in", folder.path()))?;
        if ended.is_some() || started_at.elapsed() > START_LIMIT {
            // Returning drops `keepalive`, and the watcher then stops a server that still runs.
            return Err(EmbeddedError::Start { path: folder.path().into(), output: folder.log_end() });
        }
        sleep(LOOK_INTERVAL);
    }
}

fn spawn(setup: &Setup, port: u16) -> Result<Child, EmbeddedError> {
    let folder = &setup.folder;
    let log = folder.make_log()?;
    let log_twin = log.try_clone().map_err(EmbeddedError::file("open", folder.path()))?;
    let mut shell = setup.account.command("sh", folder.path());
    shell.args(["-c", WATCHED_SERVER, "flow-postgres", &setup.linger_s.to_string()]);
    shell.arg(setup.binaries.dir.join("postgres")).arg("-D").arg(folder.data());
    let mut setting = |name: &str, value: &str| {
        shell.args(["-c", &format!("{name}={value}")]);
    };
    setting("listen_addresses", "127.0.0.1");
    setting("port", &port.to_string());
    setting("unix_socket_directories", &socket_folder(folder.path()));
    setting("max_connections", "300");
    setting("timezone", "UTC");
    setting("log_timezone", "UTC");
    if !setup.is_durable {
        setting("fsync", "off");
        setting("full_page_writes", "off");
        // Compiling a statement with JIT takes longer than the small statements of tests themselves.
        setting("jit", "off");
        setting("max_wal_size", "256MB");
    }
    // The server gets a process group of its own, so that Ctrl-C on the terminal does not end it while the program still drains.
    shell.stdout(log).stderr(log_twin).process_group(0);
    shell.spawn().map_err(|source| EmbeddedError::Program { program: "sh".into(), source })
}

/// The folder for the server's socket; empty, for no socket, when the path is too long or has unusual characters.
fn socket_folder(folder: &Path) -> String {
    let path = folder.to_string_lossy();
    let is_plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    if is_plain && path.len() <= LONGEST_SOCKET_FOLDER { path.into_owned() } else { String::new() }
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
