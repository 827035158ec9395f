//! Results that could not be recorded because another transaction had locked their runs. They are kept here and sent again.

use std::time::Duration;

use tokio::time::Instant;

use crate::database::store::Settlement;

/// The pause before a busy result is sent again.
const PAUSE: Duration = Duration::from_millis(50);

/// The results that wait for the locks of their runs.
#[derive(Default)]
pub(super) struct Busy {
    results: Vec<Settlement>,
    due_at: Option<Instant>,
    /// The next try sends the results of one run only, and the database waits for that run's lock. Tries of one run and tries of all
    /// results take turns.
    is_lone_next: bool,
}

impl Busy {
    /// Keeps results for the next try.
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

    /// Whether the next try is due.
    pub(super) fn is_due(&self) -> bool {
        self.due_at.is_some_and(|due_at| due_at <= Instant::now())
    }

    /// Waits until the next try is due. Never ends when no results are kept.
    pub(super) async fn due(&self) {
        match self.due_at {
            Some(due_at) => tokio::time::sleep_until(due_at).await,
            None => std::future::pending().await,
        }
    }

    /// Moves the results of a try that is due to the front of `unsettled`. Returns how many of them the next exchange sends without any
    /// other results, when this try is of one run; else `None`.
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
