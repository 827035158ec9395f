//! Tells other programs what the calls of this program have brought about, in small transactions of their own.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{task::JoinHandle, time::Instant};
use uuid::Uuid;

use crate::database::{
    notify::trouble::Trouble,
    pool::SharedPool,
    store::{self, News},
};

/// The log line for a telling that has failed.
pub(super) const UNTOLD: &str = "others were not told what happened here; they find out with their next poll";

/// How long a program that has told something within the last [`BUSY`] waits for more news, so that one telling carries many.
/// Source: docs/decisions/0012 (rate of single starts, measured).
const PATIENCE: Duration = Duration::from_millis(1);

/// A program whose last telling is longer ago than this tells at once.
const BUSY: Duration = Duration::from_millis(50);

/// What tells the news of one program to other programs.
pub(super) struct Teller {
    pool: SharedPool,
    /// Names this program in its notifications, so that its own listening connection passes them over.
    origin: String,
    pending: Mutex<Pending>,
}

struct Pending {
    news: News,
    /// The task that tells, while there are news to tell.
    telling: Option<JoinHandle<()>>,
    /// When the last telling ended.
    told_at: Option<Instant>,
    trouble: Trouble,
}

impl Teller {
    pub(super) fn new(pool: SharedPool) -> Arc<Self> {
        let pending =
            Mutex::new(Pending { news: News::default(), telling: None, told_at: None, trouble: Trouble::new(UNTOLD) });
        Arc::new(Self { pool, origin: Uuid::new_v4().simple().to_string(), pending })
    }

    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// Tells the news in the background: at once, or within [`PATIENCE`] together with further news when the last telling was just now.
    pub(super) fn say(self: &Arc<Self>, news: News) {
        let mut pending = self.lock();
        pending.news.add(news);
        // A task that ends by itself clears `telling`. One that is finished and still stored was dropped with its runtime.
        if pending.telling.as_ref().is_none_or(JoinHandle::is_finished) {
            pending.telling = Some(tokio::spawn(Arc::clone(self).tell_pending()));
        }
    }

    /// Waits until the telling that is under way has ended, with success or not.
    pub(super) async fn finish(&self) {
        let telling = self.lock().telling.take();
        if let Some(telling) = telling {
            let _ = telling.await;
        }
    }

    async fn tell_pending(self: Arc<Self>) {
        while let Some(news) = self.next().await {
            match store::tell_others(&self.pool, &news, &self.origin).await {
                Ok(()) => self.lock().trouble.is_over(),
                // News that could not be told are not sent again: the other programs find them with their next poll.
                Err(error) => self.lock().trouble.tell(&error),
            }
            self.lock().told_at = Some(Instant::now());
        }
    }

    /// The news to be told now. Returns `None` when there are none, and clears `telling` under the same lock, so that the next `say` spawns
    /// a new task.
    async fn next(&self) -> Option<News> {
        if self.lock().told_at.is_some_and(|told_at| told_at.elapsed() < BUSY) {
            tokio::time::sleep(PATIENCE).await;
        }
        let mut pending = self.lock();
        if pending.news.is_empty() {
            pending.telling = None;
            return None;
        }
        Some(mem::take(&mut pending.news))
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
