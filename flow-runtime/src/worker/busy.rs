//! Results that could not be recorded because somebody else had locked their runs: kept, and sent again.

use std::time::Duration;

use tokio::time::Instant;

use crate::database::store::Settlement;

/// The pause before a busy result is sent again.
const PAUSE: Duration = Duration::from_millis(50);

/// What waits for the locks of runs.
#[derive(Default)]
pub(super) struct Busy {
    results: Vec<Settlement>,
    due_at: Option<Instant>,
    /// The next try is of one run's results alone, and waits for its lock; the try after that is of all again.
    is_lone_next: bool,
}

impl Busy {
    /// Keeps results for later.
    pub(super) fn put(&mut self, results: impl Iterator<Item = Settlement>) {
        self.results.extend(results);
        if !self.results.is_empty() && self.due_at.is_none() {
            self.due_at = Some(Instant::now() + PAUSE);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Settlement> {
        self.results.iter()
    }

    /// Whether it is time to try again.
    pub(super) fn is_due(&self) -> bool {
        self.due_at.is_some_and(|due_at| due_at <= Instant::now())
    }

    /// Ends when it is time to try again; never, when there is nothing.
    pub(super) async fn due(&self) {
        match self.due_at {
            Some(due_at) => tokio::time::sleep_until(due_at).await,
            None => std::future::pending().await,
        }
    }

    /// Puts what is due in front of the other results. Says how many of them are to be sent alone, in turns: those of one run.
    pub(super) fn take_due(&mut self, unsettled: &mut Vec<Settlement>) -> Option<usize> {
        if !self.is_due() {
            return None;
        }
        self.due_at = None;
        let is_lone = self.is_lone_next;
        self.is_lone_next = !is_lone;
        let run = self.results[0].id.run_id;
        let (now, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.results).into_iter().partition(|result| !is_lone || result.id.run_id == run);
        let count = now.len();
        unsettled.splice(0..0, now);
        self.put(later.into_iter());
        is_lone.then_some(count)
    }
}
