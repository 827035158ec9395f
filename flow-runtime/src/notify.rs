//! One listening connection for all of a process: wakes workers and waiting handles, with a poll as the net.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use sqlx::{PgPool, postgres::PgListener};
use tokio::{
    sync::{Notify, OnceCell},
    task::JoinHandle,
    time::Instant,
};
use uuid::Uuid;

use crate::{backoff::Backoff, database, store};

/// How often watched runs are looked at when no notification comes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Everybody in this process who waits for a notification, and the task that listens for them.
pub(crate) struct Hub {
    pool: PgPool,
    waiting: Mutex<Waiting>,
    changed: Notify,
    /// Whether a pooler hands server processes on between two statements, so that nothing is heard; found out once.
    is_deaf: OnceCell<bool>,
}

#[derive(Default)]
struct Waiting {
    queues: HashMap<i32, Slot>,
    workers: HashMap<i64, Slot>,
    runs: HashMap<Uuid, Slot>,
    listener: Option<JoinHandle<()>>,
}

/// Those who wait for one id.
#[derive(Default)]
struct Slot {
    wakers: Vec<Weak<Notify>>,
}

/// Wakes its holder when the id it was made for is named; forgotten when dropped.
pub(crate) struct Subscription {
    hub: Arc<Hub>,
    notify: Arc<Notify>,
    topic: Topic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Messages were sent to this queue.
    Queue(i32),
    /// This worker should look at its tasks and its own state.
    Worker(i64),
    /// This run has ended.
    Run(Uuid),
}

impl Hub {
    pub(crate) fn new(pool: PgPool) -> Arc<Self> {
        Arc::new(Self { pool, waiting: Mutex::default(), changed: Notify::new(), is_deaf: OnceCell::new() })
    }

    /// Wakes `notify` each time `topic` is named, from now on, and once more whenever something may have been missed.
    pub(crate) fn subscribe(self: &Arc<Self>, topic: Topic, notify: Arc<Notify>) -> Subscription {
        let mut waiting = self.lock();
        let waker = Arc::downgrade(&notify);
        match topic {
            Topic::Queue(id) => waiting.queues.entry(id).or_default().wakers.push(waker),
            Topic::Worker(id) => waiting.workers.entry(id).or_default().wakers.push(waker),
            Topic::Run(id) => waiting.runs.entry(id).or_default().wakers.push(waker),
        }
        // A task that has ended without saying so went down with the runtime that it ran on.
        if waiting.listener.as_ref().is_none_or(JoinHandle::is_finished) {
            waiting.listener = Some(tokio::spawn(Arc::clone(self).listen()));
        }
        drop(waiting);
        self.changed.notify_one();
        Subscription { hub: Arc::clone(self), notify, topic }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens while anybody waits; connects again, with growing pauses, when the connection is lost.
    async fn listen(self: Arc<Self>) {
        let mut backoff = Backoff::default();
        loop {
            match self.listen_once(&mut backoff).await {
                Ok(()) => return,
                Err(error) => {
                    tracing::warn!(error = %error, "listening connection lost; polling until it is back");
                    self.lock().wake_all();
                    let pause = tokio::time::sleep(backoff.next_pause());
                    tokio::pin!(pause);
                    loop {
                        tokio::select! {
                            () = &mut pause => break,
                            () = self.changed.notified() => if self.stop_if_idle() { return },
                        }
                    }
                }
            }
        }
    }

    async fn listen_once(self: &Arc<Self>, backoff: &mut Backoff) -> Result<(), sqlx::Error> {
        if *self.is_deaf.get_or_try_init(|| self.find_out_if_deaf()).await? {
            return self.poll_only(backoff).await;
        }
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.eager_reconnect(false);
        listener.listen_all(["flow_queue", "flow_worker"]).await?;
        let mut watches_runs = false;
        // Whatever was sent before this connection listened was missed.
        self.lock().wake_all();
        let mut poll_at = Instant::now() + POLL_INTERVAL;
        loop {
            if self.stop_if_idle() {
                return Ok(());
            }
            let has_runs = !self.lock().runs.is_empty();
            if has_runs != watches_runs {
                if has_runs {
                    listener.listen("flow_run").await?;
                    self.poll_runs().await?;
                } else {
                    listener.unlisten("flow_run").await?;
                }
                watches_runs = has_runs;
            }
            tokio::select! {
                note = listener.try_recv() => match note? {
                    Some(note) => self.lock().wake_named(note.channel(), note.payload()),
                    None => return Err(sqlx::Error::WorkerCrashed),
                },
                () = self.changed.notified() => {}
                () = tokio::time::sleep_until(poll_at), if watches_runs => {
                    self.poll_runs().await?;
                    poll_at = Instant::now() + POLL_INTERVAL;
                }
            }
            backoff.reset();
        }
    }

    async fn find_out_if_deaf(&self) -> Result<bool, sqlx::Error> {
        let is_deaf = database::shares_processes(&self.pool.connect_options()).await?;
        if is_deaf {
            tracing::warn!(
                "the database's address is that of a pooler in transaction mode, which passes no notifications; \
                 waits look for their runs once a second"
            );
        }
        Ok(is_deaf)
    }

    /// Looks at the watched runs now and then while anybody waits.
    async fn poll_only(&self, backoff: &mut Backoff) -> Result<(), sqlx::Error> {
        while !self.stop_if_idle() {
            self.poll_runs().await?;
            backoff.reset();
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Ok(())
    }

    /// Wakes those whose run has ended without anybody saying so.
    async fn poll_runs(&self) -> Result<(), sqlx::Error> {
        let watched: Vec<Uuid> = self.lock().runs.keys().copied().collect();
        if watched.is_empty() {
            return Ok(());
        }
        let ended = store::ended_runs(&self.pool, &watched).await?;
        let mut waiting = self.lock();
        for run in ended {
            wake(&mut waiting.runs, run);
        }
        Ok(())
    }

    /// Ends listening when nobody waits. Under the lock, so that whoever comes next starts it anew.
    fn stop_if_idle(&self) -> bool {
        let mut waiting = self.lock();
        let is_idle = waiting.queues.is_empty() && waiting.workers.is_empty() && waiting.runs.is_empty();
        if is_idle {
            waiting.listener = None;
        }
        is_idle
    }
}

impl Waiting {
    fn wake_named(&mut self, channel: &str, payload: &str) {
        match channel {
            "flow_queue" => wake_listed(&mut self.queues, payload),
            "flow_worker" => wake_listed(&mut self.workers, payload),
            _ => wake_listed(&mut self.runs, payload),
        }
    }

    fn wake_all(&mut self) {
        wake_listed(&mut self.queues, "*");
        wake_listed(&mut self.workers, "*");
        wake_listed(&mut self.runs, "*");
    }

    fn remove(&mut self, topic: Topic, notify: &Arc<Notify>) {
        match topic {
            Topic::Queue(id) => forget(&mut self.queues, id, notify),
            Topic::Worker(id) => forget(&mut self.workers, id, notify),
            Topic::Run(id) => forget(&mut self.runs, id, notify),
        }
    }
}

/// Wakes everybody whose id is in the comma-separated list; `*` is everybody.
fn wake_listed<K: Copy + Eq + Hash + std::str::FromStr>(slots: &mut HashMap<K, Slot>, list: &str) {
    if list == "*" {
        slots.values().for_each(Slot::wake);
    } else {
        list.split(',').filter_map(|id| id.parse().ok()).for_each(|id| wake(slots, id));
    }
}

fn wake<K: Eq + Hash>(slots: &mut HashMap<K, Slot>, id: K) {
    if let Some(slot) = slots.get(&id) {
        slot.wake();
    }
}

fn forget<K: Eq + Hash>(slots: &mut HashMap<K, Slot>, id: K, notify: &Arc<Notify>) {
    if let Some(slot) = slots.get_mut(&id) {
        slot.wakers.retain(|waker| !std::ptr::eq(waker.as_ptr(), Arc::as_ptr(notify)));
        if slot.wakers.is_empty() {
            slots.remove(&id);
        }
    }
}

impl Slot {
    fn wake(&self) {
        self.wakers.iter().filter_map(Weak::upgrade).for_each(|notify| notify.notify_one());
    }
}

impl Subscription {
    /// Ends when the id is named, or may have been.
    pub(crate) async fn notified(&self) {
        self.notify.notified().await;
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.lock().remove(self.topic, &self.notify);
        self.hub.changed.notify_one();
    }
}
