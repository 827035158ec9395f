//! The hub that wakes the workers and run handles of this process. They are woken directly by what this process itself brings about, and
//! over one listening connection by notifications of other programs; a look at all waited-for runs once a second is the net. The hub also
//! tells other programs what this process brings about.

mod listener;
mod teller;
mod trouble;

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sqlx::PgConnection;
use tokio::{
    sync::{Notify, OnceCell},
    task::JoinHandle,
    time::Instant,
};
use uuid::Uuid;

use crate::database::{
    backoff::Backoff,
    deadline::{self, in_time},
    link::Link,
    pool::SharedPool,
    store::{self, News},
};
use listener::{Heard, Listener};
use teller::{Teller, UNTOLD};
use trouble::Trouble;

/// How long the listening connection stays open when nobody waits, so that one wait after the other needs no new connection.
const LINGER: Duration = Duration::from_secs(5);

/// How often all waited-for runs are looked at when no notification comes.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// The waiting workers and handles of this process, and the tasks that listen and look for them.
pub(crate) struct Hub {
    pool: SharedPool,
    teller: Arc<Teller>,
    waiting: Mutex<Waiting>,
    changed: Notify,
    /// Makes the task that looks at runs look now.
    look: Notify,
    /// Whether a pooler hands server processes on between two statements, so that no notification arrives. Found out once.
    is_deaf: OnceCell<bool>,
    /// Whether the listening connection closes as soon as nobody waits, without the time [`LINGER`].
    is_closed: AtomicBool,
}

#[derive(Default)]
struct Waiting {
    queues: HashMap<i32, Wakers>,
    workers: HashMap<i64, Wakers>,
    runs: HashMap<Uuid, Wakers>,
    listening: Option<JoinHandle<()>>,
    looking: Option<JoinHandle<()>>,
}

/// The handles that are notified when one id is named.
#[derive(Default)]
struct Wakers(Vec<Weak<Notify>>);

/// Wakes its holder when the id of its topic is named. Dropping the subscription ends it.
pub(crate) struct Subscription {
    hub: Arc<Hub>,
    notify: Arc<Notify>,
    topic: Topic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Messages were sent to this queue.
    Queue(i32),
    /// Work that this worker holds was ended, or the worker's state has changed.
    Worker(i64),
    /// This run has ended.
    Run(Uuid),
}

impl Hub {
    pub(crate) fn new(pool: SharedPool) -> Arc<Self> {
        Arc::new(Self {
            teller: Teller::new(pool.clone()),
            pool,
            waiting: Mutex::default(),
            changed: Notify::new(),
            look: Notify::new(),
            is_deaf: OnceCell::new(),
            is_closed: AtomicBool::new(false),
        })
    }

    /// Notifies `notify` from now on each time `topic` is named. Queue and worker topics are also notified whenever notifications may have
    /// been missed.
    pub(crate) fn subscribe(self: &Arc<Self>, topic: Topic, notify: Arc<Notify>) -> Subscription {
        let mut waiting = self.lock();
        let waker = Arc::downgrade(&notify);
        match topic {
            Topic::Queue(id) => waiting.queues.entry(id).or_default().0.push(waker),
            Topic::Worker(id) => waiting.workers.entry(id).or_default().0.push(waker),
            Topic::Run(id) => waiting.runs.entry(id).or_default().0.push(waker),
        }
        // A task that ends by itself clears its field. One that is finished and still stored was dropped with its runtime.
        if waiting.listening.as_ref().is_none_or(JoinHandle::is_finished) {
            waiting.listening = Some(tokio::spawn(Arc::clone(self).listen()));
        }
        if matches!(topic, Topic::Run(_)) && waiting.looking.as_ref().is_none_or(JoinHandle::is_finished) {
            waiting.looking = Some(tokio::spawn(Arc::clone(self).look_at_runs()));
        }
        drop(waiting);
        self.changed.notify_one();
        Subscription { hub: Arc::clone(self), notify, topic }
    }

    /// Wakes everybody in this process whom the news concern, and tells other programs in the background. The caller must have committed
    /// what the news tell.
    pub(crate) fn tell(&self, news: News) {
        if !news.is_empty() {
            self.wake_concerned(&news);
            self.teller.say(news);
        }
    }

    /// Wakes everybody in this process whom the news concern.
    fn wake_concerned(&self, news: &News) {
        let mut waiting = self.lock();
        news.queues.iter().for_each(|queue| wake(&mut waiting.queues, *queue));
        news.runs.iter().for_each(|run| wake(&mut waiting.runs, *run));
        news.workers.iter().for_each(|worker| wake(&mut waiting.workers, *worker));
    }

    /// Wakes everybody in this process whom the news concern, and tells other programs over the caller's `link`. The heartbeat uses this,
    /// since its thread shares no connection with the program's runtime.
    pub(crate) async fn tell_over(&self, link: &mut Link, news: &News) {
        if news.is_empty() {
            return;
        }
        self.wake_concerned(news);
        let tell =
            async |connection: &mut PgConnection| store::tell_others_over(connection, news, self.teller.origin()).await;
        if let Err(error) = link.call(deadline::HEARTBEAT, tell).await {
            link.after(&error);
            tracing::warn!(error = %error, cause = error.cause(), "{UNTOLD}");
        }
    }

    /// Waits until other programs have been told all news, or could not be told.
    pub(crate) async fn finish_telling(&self) {
        self.teller.finish().await;
    }

    /// Lets the listening connection close as soon as nobody waits.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens while anybody waits, and connects again, with growing pauses, when the connection is lost. A lost connection wakes nobody:
    /// workers and the look at runs poll meanwhile.
    async fn listen(self: Arc<Self>) {
        let mut backoff = Backoff::default();
        let mut trouble = Trouble::new("the listening connection was lost; polling until it is back");
        loop {
            let Err(error) = self.listen_once(&mut backoff, &mut trouble).await else { return };
            trouble.tell(&error);
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

    async fn listen_once(&self, backoff: &mut Backoff, trouble: &mut Trouble) -> Result<(), sqlx::Error> {
        if *self.is_deaf.get_or_try_init(|| self.find_out_if_deaf()).await? {
            while !self.stop_if_idle() {
                self.changed.notified().await;
            }
            return Ok(());
        }
        let mut listener = in_time(2 * deadline::CONNECT, Listener::open(&self.pool)).await?;
        // Notifications that were sent before this connection listened were missed, so workers and the look at runs look at once.
        self.lock().wake_workers();
        self.look.notify_one();
        trouble.is_over();
        let mut idle_until = None;
        loop {
            idle_until = self.is_idle().then(|| idle_until.unwrap_or_else(|| Instant::now() + LINGER));
            if idle_until.is_some_and(|until| self.is_closed() || until <= Instant::now()) && self.stop_if_idle() {
                return Ok(());
            }
            let heard = tokio::select! {
                heard = listener.next() => heard?,
                () = self.changed.notified() => continue,
                () = tokio::time::sleep_until(idle_until.unwrap_or_else(Instant::now)), if idle_until.is_some() => continue,
            };
            match heard {
                Heard::Note { channel, payload } => match payload.split_once('@') {
                    // A notification of this program itself: its own waiters were woken before it was sent.
                    Some((_, origin)) if origin == self.teller.origin() => {}
                    told => self.lock().wake_named(&channel, told.map_or(payload.as_str(), |(ids, _)| ids)),
                },
                Heard::Itself => {}
                Heard::Nothing => listener.beat().await?,
            }
            backoff.reset();
        }
    }

    async fn find_out_if_deaf(&self) -> Result<bool, sqlx::Error> {
        let is_deaf = self.pool.shares_processes().await?;
        if is_deaf {
            tracing::warn!(
                "the database's address is that of a pooler in transaction mode, which passes no notifications; \
                 waits look for their runs once a second"
            );
        }
        Ok(is_deaf)
    }

    /// Looks at all watched runs in one call, once a second while there are any, in case a notification is lost. While the database is away
    /// the look goes on, with growing pauses and one log line however many handles wait.
    async fn look_at_runs(self: Arc<Self>) {
        let mut backoff = Backoff::default();
        let mut trouble = Trouble::new("the database is away; waits go on");
        // The handle that waits has just looked at its run, or does so at once, so the first look here can wait.
        let _ = tokio::time::timeout(LOOK_INTERVAL, self.look.notified()).await;
        while let Some(watched) = self.watched_runs() {
            let pause = match store::list_ended_runs(&self.pool, &watched).await {
                Ok(ended) => {
                    trouble.is_over();
                    backoff.reset();
                    let mut waiting = self.lock();
                    for run in ended {
                        wake(&mut waiting.runs, run);
                    }
                    LOOK_INTERVAL
                }
                Err(error) => {
                    trouble.tell(&error);
                    backoff.next_pause()
                }
            };
            let _ = tokio::time::timeout(pause, self.look.notified()).await;
        }
    }

    /// The runs that are waited for. Returns `None` when there are none, and clears `looking` under the same lock, so that the next
    /// subscription spawns a new task.
    fn watched_runs(&self) -> Option<Vec<Uuid>> {
        let mut waiting = self.lock();
        if waiting.runs.is_empty() {
            waiting.looking = None;
            return None;
        }
        Some(waiting.runs.keys().copied().collect())
    }

    fn is_idle(&self) -> bool {
        self.lock().is_idle()
    }

    fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Returns true when nobody waits, and clears `listening` under the same lock, so that the next subscription spawns a new task.
    fn stop_if_idle(&self) -> bool {
        let mut waiting = self.lock();
        let is_idle = waiting.is_idle();
        if is_idle {
            waiting.listening = None;
        }
        is_idle
    }
}

impl Waiting {
    fn is_idle(&self) -> bool {
        self.queues.is_empty() && self.workers.is_empty() && self.runs.is_empty()
    }

    fn wake_named(&mut self, channel: &str, payload: &str) {
        match channel {
            "flow_queue" => wake_listed(&mut self.queues, payload),
            "flow_worker" => wake_listed(&mut self.workers, payload),
            _ => wake_listed(&mut self.runs, payload),
        }
    }

    fn wake_workers(&mut self) {
        wake_listed(&mut self.queues, "*");
        wake_listed(&mut self.workers, "*");
    }

    fn remove(&mut self, topic: Topic, notify: &Arc<Notify>) {
        match topic {
            Topic::Queue(id) => forget(&mut self.queues, id, notify),
            Topic::Worker(id) => forget(&mut self.workers, id, notify),
            Topic::Run(id) => forget(&mut self.runs, id, notify),
        }
    }
}

/// Wakes everybody whose id is in the comma-separated list; the list `*` wakes everybody.
fn wake_listed<K: Copy + Eq + Hash + std::str::FromStr>(wakers: &mut HashMap<K, Wakers>, list: &str) {
    if list == "*" {
        wakers.values().for_each(Wakers::wake);
    } else {
        list.split(',').filter_map(|id| id.parse().ok()).for_each(|id| wake(wakers, id));
    }
}

fn wake<K: Eq + Hash>(wakers: &mut HashMap<K, Wakers>, id: K) {
    if let Some(found) = wakers.get(&id) {
        found.wake();
    }
}

fn forget<K: Eq + Hash>(wakers: &mut HashMap<K, Wakers>, id: K, notify: &Arc<Notify>) {
    if let Some(found) = wakers.get_mut(&id) {
        found.0.retain(|waker| !std::ptr::eq(waker.as_ptr(), Arc::as_ptr(notify)));
        if found.0.is_empty() {
            wakers.remove(&id);
        }
    }
}

impl Wakers {
    fn wake(&self) {
        self.0.iter().filter_map(Weak::upgrade).for_each(|notify| notify.notify_one());
    }
}

impl Subscription {
    /// Waits until the topic's id is named, or may have been.
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
