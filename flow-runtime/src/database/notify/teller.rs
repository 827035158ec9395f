//! Tells other programs what calls of this one have brought about, in small transactions of their own.

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

/// What a telling that failed means.
pub(super) const UNTOLD: &str = "others were not told what happened here; they find out with their next poll";

/// How long a program that has told something just now waits for more, so that it tells many things together.
/// Source: docs/decisions/0012 (rate of single starts, measured).
const PATIENCE: Duration = Duration::from_millis(1);

/// How long ago "just now" is at most: a program that does little tells at once.
const BUSY: Duration = Duration::from_millis(50);

/// The tellings of one program.
pub(super) struct Teller {
    pool: SharedPool,
    /// Names this program in what it tells, so that it need not listen to itself.
    origin: String,
    pending: Mutex<Pending>,
}

struct Pending {
    news: News,
    /// The task that tells, while there is something to tell.
    telling: Option<JoinHandle<()>>,
    /// When something was told last.
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

    /// Tells the news soon: at once, or together with what comes within a moment when something was told just now.
    pub(super) fn say(self: &Arc<Self>, news: News) {
        let mut pending = self.lock();
        pending.news.add(news);
        // A task that has ended without saying so went down with the runtime that it ran on.
        if pending.telling.as_ref().is_none_or(JoinHandle::is_finished) {
            pending.telling = Some(tokio::spawn(Arc::clone(self).tell_pending()));
        }
    }

    /// Ends when what was said has been told, or could not be.
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
                // Nobody waits for ever: whoever was to be told finds out with a poll.
                Err(error) => self.lock().trouble.tell(&error),
            }
            self.lock().told_at = Some(Instant::now());
        }
    }

    /// What is to be told now; `None` ends the task, under the lock, so that whoever says something next begins another.
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
