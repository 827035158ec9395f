//! Joining the server that runs in a folder, or starting it: many programs may try at once.

use std::{
    fs::TryLockError,
    time::{Duration, Instant},
};

use super::{
    EmbeddedError,
    address::Address,
    door::{Door, Entry},
    pidfile::{PidFile, Process, send_signal},
    server,
    site::Site,
};

/// Longest wait for another program that starts the server.
const LOCK_LIMIT: Duration = Duration::from_secs(330);
/// Longest wait for a server that ends, or that has a door and does not answer.
const CHANGE_LIMIT: Duration = Duration::from_secs(30);
/// How long a server may be without a door before it is taken for one that nobody watches.
const DOORLESS_LIMIT: Duration = Duration::from_secs(10);
/// Pause between two looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// A server that this program uses, together with others perhaps. It runs at least until this is dropped.
pub(super) struct Cluster {
    pub(super) site: Site,
    pub(super) address: Address,
    pub(super) version: String,
    /// Whether the server ran before this program came.
    pub(super) is_joined: bool,
    _door: Door,
}

impl Cluster {
    /// Joins the server of a site, or starts it.
    pub(super) async fn enter(site: Site) -> Result<Self, EmbeddedError> {
        if let Join::In(cluster) = join(&site).await? {
            return Ok(*cluster);
        }
        let lock = lock_start(&site).await?;
        let cluster = match wait_for_server_or_none(&site).await? {
            Some(cluster) => cluster,
            None => start(site).await?,
        };
        drop(lock);
        Ok(cluster)
    }
}

/// What came of going in by the door.
enum Join {
    In(Box<Cluster>),
    /// There is a watched door, and behind it a server that does not answer yet, or no longer.
    Silent(Option<sqlx::Error>),
    Unwatched,
    NoDoor,
}

async fn join(site: &Site) -> Result<Join, EmbeddedError> {
    let door = match Door::enter(site.folder.path())? {
        Entry::In(door) => door,
        Entry::Unwatched => return Ok(Join::Unwatched),
        Entry::NoDoor => return Ok(Join::NoDoor),
    };
    let Some(address) = Address::read(&site.folder) else { return Ok(Join::Silent(None)) };
    Ok(match address.connect().await {
        Ok((_, version)) => {
            Join::In(Box::new(Cluster { site: site.clone(), address, version, is_joined: true, _door: door }))
        }
        Err(cause) => Join::Silent(Some(cause)),
    })
}

/// Takes the start lock. The file is dropped to free it.
async fn lock_start(site: &Site) -> Result<std::fs::File, EmbeddedError> {
    let file = site.folder.start_lock()?;
    let asked_at = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(cause)) => return Err(EmbeddedError::file("lock", site.folder.path())(cause)),
            Err(TryLockError::WouldBlock) if asked_at.elapsed() > LOCK_LIMIT => {
                let (path, seconds) = (site.folder.path().into(), LOCK_LIMIT.as_secs());
                return Err(EmbeddedError::Locked { path, seconds });
            }
            Err(TryLockError::WouldBlock) => tokio::time::sleep(LOOK_INTERVAL).await,
        }
    }
}

/// Waits until the server can be joined, or until there is none. Called under the start lock, so no other program starts one.
async fn wait_for_server_or_none(site: &Site) -> Result<Option<Cluster>, EmbeddedError> {
    let asked_at = Instant::now();
    let mut is_stopped = false;
    loop {
        let joined = join(site).await?;
        let server = PidFile::read(&site.folder.data());
        let server = server.filter(|server| server.process(&site.folder.data()) == Process::Server);
        let (cause, is_unwatched) = match joined {
            Join::In(cluster) => return Ok(Some(*cluster)),
            Join::Silent(cause) => (cause, false),
            Join::Unwatched => (None, true),
            Join::NoDoor => (None, asked_at.elapsed() > DOORLESS_LIMIT),
        };
        let Some(server) = server else { return Ok(None) };
        if is_unwatched && !is_stopped {
            // Its watcher was killed: nobody would stop it, so it makes way for one that is watched.
            is_stopped = send_signal(server.pid, "INT").is_ok();
        }
        if asked_at.elapsed() > CHANGE_LIMIT {
            return Err(EmbeddedError::Unanswered { path: site.folder.path().into(), pid: server.pid, source: cause });
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}

async fn start(site: Site) -> Result<Cluster, EmbeddedError> {
    let began_at = Instant::now();
    let starting = site.clone();
    let running = super::blocking(move || server::start(&starting, None)).await?;
    // From now on this program is a user like any other, so that the door tells whether it is watched.
    let joined = join(&site).await?;
    drop(running.door);
    match joined {
        Join::In(cluster) => {
            tracing::debug!("started the server in {} in {:?}", site.folder.path().display(), began_at.elapsed());
            Ok(Cluster { is_joined: false, ..*cluster })
        }
        Join::Silent(source) => {
            Err(EmbeddedError::Unanswered { path: site.folder.path().into(), pid: running.pid, source })
        }
        Join::Unwatched | Join::NoDoor => {
            Err(EmbeddedError::Start { path: site.folder.path().into(), output: site.folder.log_end() })
        }
    }
}
