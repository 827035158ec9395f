//! Joins the server that runs in a folder, or starts a server there. Many programs may do so at once.

use std::{
    fs::TryLockError,
    time::{Duration, Instant},
};

use crate::{
    address::Address,
    blocking::blocking,
    error::EmbeddedError,
    external::ignored_hint,
    keepalive::{Joined, KeepAlive},
    pidfile::{PidFile, Process, send_signal},
    server,
    setup::Setup,
};

/// The longest wait for another program that starts the server.
const LOCK_LIMIT: Duration = Duration::from_secs(330);
/// The longest wait for a server that is stopping, or that is watched and does not answer.
const CHANGE_LIMIT: Duration = Duration::from_secs(30);
/// How long a server may run without a FIFO before it counts as unwatched.
const UNWATCHED_LIMIT: Duration = Duration::from_secs(10);
/// The pause between two looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// A server that this program uses, perhaps together with other programs. The server runs at least until this value is dropped.
pub(crate) struct Cluster {
    pub(crate) setup: Setup,
    pub(crate) address: Address,
    pub(crate) version: String,
    /// Whether the server was running before this program joined it.
    pub(crate) is_joined: bool,
    _keepalive: KeepAlive,
}

impl Cluster {
    /// Joins the server that runs in the setup's folder, or starts one.
    pub(crate) async fn join_or_start(setup: Setup) -> Result<Self, EmbeddedError> {
        if let Join::In(cluster) = join(&setup).await? {
            return Ok(*cluster);
        }
        let lock = lock_start(&setup).await?;
        let cluster = match wait_for_server_or_none(&setup).await? {
            Some(cluster) => cluster,
            None => start(setup).await?,
        };
        drop(lock);
        Ok(cluster)
    }

    /// One line: which server this is, and where its data lies. `variable` names a server to use instead.
    pub(crate) fn describe(&self, variable: &str) -> String {
        let Self { setup, address, version, is_joined, .. } = self;
        let state = if *is_joined { "runs already" } else { "was started" };
        format!(
            "using an embedded PostgreSQL {version} that {state} on port {}, its data in {} (programs: {}){}",
            address.port,
            setup.folder.path().display(),
            setup.binaries.dir.display(),
            ignored_hint(variable)
        )
    }
}

/// What a program finds when it tries to join a server.
enum Join {
    In(Box<Cluster>),
    /// The FIFO is watched, and the server does not answer yet or no longer.
    Silent(Option<sqlx::Error>),
    Unwatched,
    Absent,
}

async fn join(setup: &Setup) -> Result<Join, EmbeddedError> {
    let keepalive = match KeepAlive::join(setup.folder.path())? {
        Joined::Held(keepalive) => keepalive,
        Joined::Unwatched => return Ok(Join::Unwatched),
        Joined::Absent => return Ok(Join::Absent),
    };
    let Some(address) = Address::read(&setup.folder) else { return Ok(Join::Silent(None)) };
    Ok(match address.connect().await {
        Ok((_, version)) => Join::In(Box::new(Cluster {
            setup: setup.clone(),
            address,
            version,
            is_joined: true,
            _keepalive: keepalive,
        })),
        Err(cause) => Join::Silent(Some(cause)),
    })
}

/// Takes the start lock. Dropping the returned file frees the lock.
async fn lock_start(setup: &Setup) -> Result<std::fs::File, EmbeddedError> {
    let file = setup.folder.start_lock()?;
    let asked_at = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(cause)) => return Err(EmbeddedError::file("lock", setup.folder.path())(cause)),
            Err(TryLockError::WouldBlock) if asked_at.elapsed() > LOCK_LIMIT => {
                let (path, seconds) = (setup.folder.path().into(), LOCK_LIMIT.as_secs());
                return Err(EmbeddedError::Locked { path, seconds });
            }
            Err(TryLockError::WouldBlock) => tokio::time::sleep(LOOK_INTERVAL).await,
        }
    }
}

/// Waits until the server can be joined, or until no server is left. Called under the start lock, so no other program starts a server.
async fn wait_for_server_or_none(setup: &Setup) -> Result<Option<Cluster>, EmbeddedError> {
    let asked_at = Instant::now();
    let mut is_stopped = false;
    loop {
        let joined = join(setup).await?;
        let server = PidFile::read(&setup.folder.data());
        let server = server.filter(|server| server.process(&setup.folder.data()) == Process::Server);
        let (cause, is_unwatched) = match joined {
            Join::In(cluster) => return Ok(Some(*cluster)),
            Join::Silent(cause) => (cause, false),
            Join::Unwatched => (None, true),
            Join::Absent => (None, asked_at.elapsed() > UNWATCHED_LIMIT),
        };
        let Some(server) = server else { return Ok(None) };
        if is_unwatched && !is_stopped {
            // The watcher was killed, so nobody would ever stop this server. It is stopped here, and a watched server is started in its
            // place.
            is_stopped = send_signal(server.pid, "INT").is_ok();
        }
        if asked_at.elapsed() > CHANGE_LIMIT {
            return Err(EmbeddedError::Unanswered { path: setup.folder.path().into(), pid: server.pid, source: cause });
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}

async fn start(setup: Setup) -> Result<Cluster, EmbeddedError> {
    let began_at = Instant::now();
    let starting = setup.clone();
    let running = blocking(move || server::start(&starting, None)).await?;
    // The server is joined as by any other program, which finds out whether the FIFO is watched.
    let joined = join(&setup).await?;
    drop(running.keepalive);
    match joined {
        Join::In(cluster) => {
            tracing::debug!("started the server in {} in {:?}", setup.folder.path().display(), began_at.elapsed());
            Ok(Cluster { is_joined: false, ..*cluster })
        }
        Join::Silent(source) => {
            Err(EmbeddedError::Unanswered { path: setup.folder.path().into(), pid: running.pid, source })
        }
        Join::Unwatched | Join::Absent => {
            Err(EmbeddedError::Start { path: setup.folder.path().into(), output: setup.folder.log_end() })
        }
    }
}
