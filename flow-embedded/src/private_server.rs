//! A server for the caller alone, for tests that restart, kill, stall or fill Postgres.

use std::{
    fs::{self, DirBuilder, File, TryLockError},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{
    address::{Address, check_database_name},
    blocking::blocking,
    error::EmbeddedError,
    folder::Home,
    pidfile::send_signal,
    random::random_hex,
    server::{self, Running},
    setup::Setup,
};

/// The longest wait for the end of a server.
const STOP_LIMIT: Duration = Duration::from_secs(60);

/// A server that no other program uses, with its folder.
///
/// The server's port stays the same over [`stop`](Self::stop), [`start`](Self::start), [`restart`](Self::restart) and
/// [`kill`](Self::kill), so URLs stay valid. Dropping this value ends the server and removes its folder with the data.
pub struct PrivateServer {
    setup: Setup,
    address: Address,
    running: Option<Running>,
    /// The folder's `owner.lock`, locked until this value is dropped or its process dies. Other processes remove folders whose lock is
    /// free.
    _owner: File,
}

impl PrivateServer {
    pub(crate) async fn open() -> Result<Self, EmbeddedError> {
        blocking(|| {
            let mut owner = None;
            let setup = Setup::private(|home| {
                let (folder, lock) = make_folder(home)?;
                owner = Some(lock);
                Ok(folder)
            })?;
            let running = server::start(&setup, None)?;
            let address = Address::read(&setup.folder).zip(owner);
            let (address, owner) = address.ok_or_else(|| EmbeddedError::Start {
                path: setup.folder.path().into(),
                output: setup.folder.log_end(),
            })?;
            Ok(Self { setup, address, running: Some(running), _owner: owner })
        })
        .await
    }

    /// The URL of a database of this server. The database `postgres` is always there.
    pub fn url(&self, database: &str) -> String {
        self.address.url(database)
    }

    /// The server's port on 127.0.0.1, which stays the same over restarts.
    pub fn port(&self) -> u16 {
        self.address.port
    }

    /// The process id of the server, or `None` when the server does not run.
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(|running| running.pid)
    }

    /// Creates a database unless it exists, and returns its URL.
    ///
    /// # Errors
    /// [`EmbeddedError::DatabaseName`] for a name that needs quoting, [`EmbeddedError::Database`] when the server refuses.
    pub async fn create_database(&self, name: &str) -> Result<String, EmbeddedError> {
        check_database_name(name)?;
        self.address.create_database(name).await?;
        Ok(self.url(name))
    }

    /// Stops the server by a fast shutdown: open transactions are rolled back, and committed data is on disk. Does nothing when the server
    /// does not run.
    ///
    /// # Errors
    /// [`EmbeddedError::Unanswered`] when it does not end.
    pub async fn stop(&mut self) -> Result<(), EmbeddedError> {
        self.end("INT").await
    }

    /// Ends the server at once, without a checkpoint, as a crash does: the next start recovers from the write-ahead log. Does nothing when
    /// the server does not run.
    ///
    /// # Errors
    /// [`EmbeddedError::Unanswered`] when it does not end.
    pub async fn kill(&mut self) -> Result<(), EmbeddedError> {
        self.end("QUIT").await
    }

    /// Starts the server again on its data and port. Does nothing when the server runs.
    ///
    /// # Errors
    /// [`EmbeddedError::Start`] when it does not start.
    pub async fn start(&mut self) -> Result<(), EmbeddedError> {
        if self.running.is_none() {
            let (setup, port) = (self.setup.clone(), self.address.port);
            self.running = Some(blocking(move || server::start(&setup, Some(port))).await?);
        }
        Ok(())
    }

    /// Stops and starts the server.
    ///
    /// # Errors
    /// The errors of [`stop`](Self::stop) and [`start`](Self::start).
    pub async fn restart(&mut self) -> Result<(), EmbeddedError> {
        self.stop().await?;
        self.start().await
    }

    async fn end(&mut self, signal: &'static str) -> Result<(), EmbeddedError> {
        let Some(running) = self.running.take() else { return Ok(()) };
        let path = self.setup.folder.path().to_path_buf();
        blocking(move || end(running, signal, &path)).await
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        let path = self.setup.folder.path();
        if let Some(running) = self.running.take() {
            let _ = end(running, "QUIT", path);
        }
        let _ = fs::remove_dir_all(path);
    }
}

/// Sends the server a signal and waits up to [`STOP_LIMIT`] for its end.
fn end(mut running: Running, signal: &str, path: &Path) -> Result<(), EmbeddedError> {
    let _ = send_signal(running.pid, signal);
    let asked_at = Instant::now();
    while let Ok(None) = running.shell.try_wait() {
        if asked_at.elapsed() > STOP_LIMIT {
            return Err(EmbeddedError::Unanswered { path: path.into(), pid: running.pid, source: None });
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Makes and locks a new folder, and removes the folders of processes that are gone.
fn make_folder(home: &Home) -> Result<(PathBuf, File), EmbeddedError> {
    // Under this lock no other process looks for folders left behind, so the new folder is not removed before it is locked.
    let path = home.path().join("private.lock");
    let making = File::create(&path).map_err(EmbeddedError::file("create", &path))?;
    making.lock().map_err(EmbeddedError::file("lock", &path))?;
    remove_left_behind(home.path());
    let digits = random_hex().map_err(EmbeddedError::file("read", "/dev/urandom"))?;
    let folder = home.path().join(format!("private-{}", &digits[..12]));
    DirBuilder::new().mode(0o700).create(&folder).map_err(EmbeddedError::file("create", &folder))?;
    let owner = folder.join("owner.lock");
    let lock = File::create(&owner).map_err(EmbeddedError::file("create", &owner))?;
    lock.lock().map_err(EmbeddedError::file("lock", owner))?;
    Ok((folder, lock))
}

fn remove_left_behind(home: &Path) {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("private-"));
    for folder in folders.map(|entry| entry.path()) {
        let lock = File::options().write(true).open(folder.join("owner.lock"));
        // A free lock means that the folder's process is gone, and so is its server, which ends when nobody holds its FIFO.
        if lock.is_ok_and(|lock| !matches!(lock.try_lock(), Err(TryLockError::WouldBlock))) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

impl std::fmt::Debug for PrivateServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PrivateServer").field("port", &self.port()).finish_non_exhaustive()
    }
}
