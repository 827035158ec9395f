//! The process: one lease and one heartbeat for all workers that a program has on a database. The heartbeat has a thread of its own, so
//! that no handler can keep the lease from being renewed. A heartbeat also recovers the work of other processes whose leases are over.

mod upkeep;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use sqlx::PgConnection;
use tokio::{sync::oneshot, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    database::{
        backoff::Backoff,
        db::Db,
        deadline::{self, connection_lost},
        link::Link,
        store::{self, Heard, News, WorkerState},
    },
    error::DbError,
    fault,
    worker::{
        heartbeat::Heartbeat,
        patience::{Patience, renew_interval},
        random_id::random_id,
        shared::{Notice, Shared},
    },
};

/// The process that a program has on one database: one while the program has workers there, else none.
#[derive(Default)]
pub(crate) struct ProcessSlot(tokio::sync::Mutex<Option<Arc<Process>>>);

/// A process of this program, with its workers.
pub(crate) struct Process {
    heartbeat: Arc<Heartbeat>,
    name: String,
    members: Mutex<Members>,
    /// Cancelled when the process's last worker has left.
    stop: CancellationToken,
    /// Cancelled when the process's thread has ended.
    ended: CancellationToken,
}

struct Members {
    /// The shortest lease that a worker of the process has asked for.
    lease: Duration,
    workers: Vec<Arc<Shared>>,
    /// Workers that are being registered.
    seats: usize,
}

/// A worker's place in its process, from before the worker is registered on. Dropping the place leaves the process.
pub(super) struct Membership {
    process: Arc<Process>,
    worker_id: Option<i64>,
}

impl ProcessSlot {
    /// The process that is at work, if any.
    pub(super) fn present(&self) -> Option<Arc<Process>> {
        self.0.try_lock().ok()?.clone()
    }

    /// Takes a place in the process that is at work, or starts a new process. The process is registered and has its heartbeat on return.
    pub(super) async fn join(&self, db: &Db, lease: Duration) -> Result<Membership, DbError> {
        let mut slot = self.0.lock().await;
        if let Some(membership) = slot.as_ref().and_then(|process| process.admit(lease)) {
            return Ok(membership);
        }
        let process = Arc::new(Process::new(lease));
        process.start(db).await?;
        *slot = Some(Arc::clone(&process));
        process.admit(lease).ok_or_else(connection_lost)
    }
}

impl Process {
    fn new(lease: Duration) -> Self {
        Self {
            heartbeat: Arc::new(Heartbeat::new(random_id(), lease)),
            name: format!("{}:{}", hostname(), std::process::id()),
            members: Mutex::new(Members { lease, workers: Vec::new(), seats: 0 }),
            stop: CancellationToken::new(),
            ended: CancellationToken::new(),
        }
    }

    fn id(&self) -> i64 {
        self.heartbeat.process_id()
    }

    fn lease(&self) -> Duration {
        self.lock().lease
    }

    /// Takes a place for another worker; `None` when the process has stopped.
    fn admit(self: &Arc<Self>, lease: Duration) -> Option<Membership> {
        let mut members = self.lock();
        if self.stop.is_cancelled() {
            return None;
        }
        members.seats += 1;
        members.lease = members.lease.min(lease);
        self.heartbeat.want();
        Some(Membership { process: Arc::clone(self), worker_id: None })
    }

    /// The registered workers.
    pub(super) fn workers(&self) -> Vec<Arc<Shared>> {
        self.lock().workers.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread and waits until the process is registered.
    async fn start(self: &Arc<Self>, db: &Db) -> Result<(), DbError> {
        let (tell, told) = oneshot::channel();
        let (process, db) = (Arc::clone(self), db.clone());
        let spawned = thread::Builder::new().name("flow heartbeat".to_owned()).spawn(move || {
            let _ended = process.ended.clone().drop_guard();
            match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime.block_on(live(&process, &db, tell)),
                Err(error) => drop(tell.send(Err(sqlx::Error::Io(error).into()))),
            }
        });
        spawned.map_err(sqlx::Error::Io)?;
        told.await.unwrap_or_else(|_| Err(connection_lost()))
    }
}

impl Membership {
    /// The process's heartbeat.
    pub(super) fn heartbeat(&self) -> Arc<Heartbeat> {
        Arc::clone(&self.process.heartbeat)
    }

    /// Puts the worker, which is registered by now, into its place.
    pub(super) fn enter(&mut self, shared: Arc<Shared>) {
        let mut members = self.process.lock();
        if self.worker_id.replace(shared.worker_id).is_none() {
            members.seats -= 1;
        }
        members.workers.push(shared);
    }

    /// Leaves the process. After its last worker has left, waits until the process's thread has ended.
    pub(super) async fn leave(self) {
        let process = Arc::clone(&self.process);
        drop(self);
        if process.stop.is_cancelled() {
            process.ended.cancelled().await;
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let mut members = self.process.lock();
        match self.worker_id {
            Some(worker_id) => members.workers.retain(|worker| worker.worker_id != worker_id),
            None => members.seats -= 1,
        }
        if members.seats == 0 && members.workers.is_empty() {
            self.process.stop.cancel();
        }
    }
}

/// Registers the process, sends heartbeats until its last worker has left, and then marks it stopped.
async fn live(process: &Process, db: &Db, tell: oneshot::Sender<Result<(), DbError>>) {
    let mut link = Link::new(db.connector().clone());
    let registered = link
        .call(deadline::HEARTBEAT, async |connection| {
            store::register_process(connection, process.id(), &process.name, process.lease()).await
        })
        .await;
    let is_registered = registered.is_ok();
    if tell.send(registered).is_err() || !is_registered {
        return;
    }
    let mut heart =
        Heart { process, db, link, backoff: Backoff::default(), patience: Patience::new(Instant::now()), upkeep: None };
    let mut pause = Duration::ZERO;
    loop {
        tokio::select! {
            () = process.stop.cancelled() => break,
            () = tokio::time::sleep(pause) => {}
            () = process.heartbeat.wanted() => {}
        }
        pause = heart.beat().await;
    }
    heart.say_goodbye().await;
}

/// What the heartbeat keeps from one beat to the next.
struct Heart<'a> {
    process: &'a Process,
    db: &'a Db,
    link: Link,
    backoff: Backoff,
    patience: Patience,
    /// The task of the last upkeep, which looks at queues and removes old runs.
    upkeep: Option<JoinHandle<()>>,
}

impl Heart<'_> {
    /// Renews the lease, tells the process's workers what they have lost, and recovers what other processes have lost. Returns the pause
    /// until the next beat.
    async fn beat(&mut self) -> Duration {
        let members = self.process.workers();
        let pulses: Vec<_> = members.iter().map(|member| member.held.pulse(member.worker_id)).collect();
        if pulses.iter().any(|pulse| !pulse.held.is_empty()) && fault::is_cut("renewing") {
            self.link.lose();
        }
        let began_at = Instant::now();
        let lease = self.process.lease();
        let id = self.process.id();
        let heard = self
            .link
            .call(deadline::HEARTBEAT, async |connection| store::heartbeat(connection, id, lease, &pulses).await)
            .await;
        match heard {
            Ok(heard) => {
                self.link.has_served();
                self.backoff.reset();
                self.take_in(&members, &heard);
                self.patience.renewed(began_at, lease);
                self.process.heartbeat.renewal.succeeded(began_at, lease);
                self.db.hub().tell_over(&mut self.link, &heard.news).await;
                self.recover(&members, &heard, began_at).await;
                self.keep_up(&members);
                self.pause(&heard)
            }
            Err(error) => {
                self.link.after(&error);
                let pause = self.backoff.next_pause().min(renew_interval(lease));
                tracing::warn!(error = %error, cause = error.cause(), ?pause, "heartbeat failed; trying again");
                pause
            }
        }
    }

    /// The pause after a beat: until the lease is to be renewed, or until another process's lease is over, whichever is shorter.
    fn pause(&self, heard: &Heard) -> Duration {
        let own = renew_interval(self.process.lease());
        heard.next_end.map_or(own, |end| own.min(end + Duration::from_millis(10)))
    }

    /// Tells each worker which work it does not hold any more, and wakes the workers that are to stop.
    fn take_in(&self, members: &[Arc<Shared>], heard: &Heard) {
        for (place, member) in members.iter().enumerate() {
            let lost = heard.lost.iter().filter(|(of, ..)| *of == place).map(|(_, id, why)| (*id, *why));
            let lost: Vec<_> = lost.filter(|(id, _)| member.held.lose(*id)).collect();
            if !lost.is_empty() {
                member.notice(Notice::Lost(lost));
            }
        }
        for (member, (state, reason)) in members.iter().zip(&heard.states) {
            if state.is_the_end() {
                // The worker's next exchange gets the same state with its reason, and acts on it.
                tracing::debug!(worker_id = member.worker_id, ?state, reason, "the worker is to stop");
                member.wake.notify_one();
            }
        }
    }

    /// Ends other processes whose leases are over, and recovers what they held and what workers that are gone held. When this process was
    /// ended itself, its own work is recovered in the same way, and the process then goes on under a new number.
    async fn recover(&mut self, members: &[Arc<Shared>], heard: &Heard, began_at: Instant) {
        let may_end = |(_, lease): &&(i64, Duration)| self.patience.may_end(began_at, *lease);
        let expired: Vec<i64> = heard.expired.iter().filter(may_end).map(|(process, _)| *process).collect();
        // Recovery ends in time for the next renewal of this process's own lease; the next beat goes on with what is left.
        let until = began_at + renew_interval(self.process.lease()) / 2;
        let mut news = News::default();
        let recovered = recover(&mut self.link, &expired, &heard.rows, until, &mut news).await;
        self.db.hub().tell_over(&mut self.link, &news).await;
        let recovered = match recovered {
            Ok(has_more) if must_revive(heard) => self.revive(members, heard).await.map(|revived| has_more || revived),
            recovered => recovered,
        };
        if matches!(recovered, Ok(true)) {
            self.process.heartbeat.want();
        }
        if let Err(error) = recovered {
            self.link.after(&error);
            tracing::warn!(error = %error, cause = error.cause(), "recovery failed; the next heartbeat tries again");
        }
    }

    /// Lets the process's workers go on. When this process was ended, it gets a new number; else the workers that are registered under an
    /// older number are moved to the present one. Returns false while work that they held is still listed in their hands.
    async fn revive(&mut self, members: &[Arc<Shared>], heard: &Heard) -> Result<bool, DbError> {
        let next = if heard.has_ended { random_id() } else { self.process.id() };
        let workers: Vec<i64> = members.iter().map(|member| member.worker_id).collect();
        // Work that an outstanding number has handed out is given to others. An exchange that is repeated under that number after the
        // revival would hand the same work out again, so the numbers are dropped first.
        for (member, (state, _)) in members.iter().zip(&heard.states) {
            if *state == WorkerState::ProcessEnded {
                member.held.give_numbers_up();
            }
        }
        let (name, lease) = (&self.process.name, self.process.lease());
        let has_revived = self
            .link
            .call(deadline::HEARTBEAT, async |connection| {
                store::revive_process(connection, &workers, next, name, lease).await
            })
            .await?;
        if has_revived {
            self.process.heartbeat.renumber(next);
            tracing::warn!(
                "the lease was not renewed in time, and the work of this process was given to others; it goes on"
            );
            members.iter().for_each(|member| member.wake.notify_one());
        }
        Ok(has_revived)
    }

    /// Marks the process stopped, so that other processes need not wait for the end of its lease.
    async fn say_goodbye(mut self) {
        let id = self.process.id();
        let stopped =
            self.link.call(deadline::RELEASE, async |connection| store::stop_process(connection, id).await).await;
        if let Err(error) = stopped {
            tracing::warn!(error = %error, cause = error.cause(), "no goodbye: others wait for the lease to end");
        }
        self.link.close().await;
    }
}

/// Ends the processes `expired` and recovers the rows of hands `rows`, until `until`. What another transaction has locked is left to a
/// later heartbeat of any process. Returns whether there is more to do at once, and adds what is to be told to `news`.
async fn recover(
    link: &mut Link,
    expired: &[i64],
    rows: &[(i64, i64)],
    until: Instant,
    news: &mut News,
) -> Result<bool, DbError> {
    let mut has_ended = false;
    for process in expired {
        let end = async |connection: &mut PgConnection| store::end_process(connection, *process).await;
        has_ended |= link.call(deadline::HEARTBEAT, end).await?;
    }
    for row in rows {
        if Instant::now() > until {
            return Ok(true);
        }
        let recover = async |connection: &mut PgConnection| store::recover_hand(connection, *row).await;
        news.add(link.call(deadline::HEARTBEAT, recover).await?);
    }
    Ok(has_ended)
}

/// Whether the workers must be moved to a live number of the process: the process was ended, or a worker is registered under a number
/// that is gone. The latter happens when the process gets a new number while the worker is being registered, and when the reply to an
/// earlier revival was lost.
fn must_revive(heard: &Heard) -> bool {
    heard.has_ended || heard.states.iter().any(|(state, _)| *state == WorkerState::ProcessEnded)
}

/// The machine's host name, for the process's name in the database.
fn hostname() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| std::env::var("HOSTNAME").ok());
    name.map_or_else(|| "host".to_owned(), |name| name.trim().to_owned())
}
