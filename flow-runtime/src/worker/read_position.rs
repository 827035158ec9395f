//! Which part of its queue a worker reads: the whole queue, or only what lies behind the worker's marks.
//!
//! Rows that were claimed lie dead at the beginning of a queue until vacuum may remove them, which an old transaction can delay for
//! long. A read that begins behind a mark skips these rows. Work that waits before a mark, such as a retry, is found by the next read in
//! full.

use std::time::Duration;

use tokio::time::Instant;

use crate::database::store::{Exchanged, Mark};

/// How long work that waits before the marks may stay unseen.
const FULL_AT_LEAST_EVERY: Duration = Duration::from_secs(1);

/// A read in full that takes longer than this is followed by a pause, so that reads in full use at most a twentieth of the time.
const CHEAP: Duration = Duration::from_millis(1);

/// How many times as long as the read in full the pause after it is.
const PAUSE: u32 = 19;

/// How a worker has read its queue so far.
pub(super) struct ReadPosition {
    /// The last place read in each priority.
    marks: Vec<Mark>,
    /// Work may wait before the marks.
    is_behind: bool,
    /// The last read in full came to the end of the queue.
    is_at_end: bool,
    full_at: Instant,
    full_not_before: Instant,
    due_at: Option<Instant>,
}

impl Default for ReadPosition {
    fn default() -> Self {
        let now = Instant::now();
        Self { marks: Vec::new(), is_behind: true, is_at_end: true, full_at: now, full_not_before: now, due_at: None }
    }
}

impl ReadPosition {
    /// Makes the next read a read in full, because new work may be anywhere in the queue.
    pub(super) fn look_everywhere(&mut self) {
        self.is_behind = true;
    }

    /// The places behind which the next read begins, one a priority. Without marks the next read is a read in full.
    pub(super) fn marks(&self) -> Vec<Mark> {
        let now = Instant::now();
        let is_due = self.is_behind || self.is_at_end || now >= self.full_at + FULL_AT_LEAST_EVERY;
        if is_due && now >= self.full_not_before { Vec::new() } else { self.marks.clone() }
    }

    /// Learns from the reply to a read in full (`was_full`) or to a read behind the marks. Returns whether a further read now may find
    /// work.
    pub(super) fn learn(&mut self, was_full: bool, reply: &Exchanged) -> bool {
        let now = Instant::now();
        self.due_at = reply.next_due.map(|wait| now + wait);
        if was_full {
            self.full_at = now;
            self.full_not_before = if reply.read_time > CHEAP { now + reply.read_time * PAUSE } else { now };
            self.is_behind = false;
            self.is_at_end = !reply.has_more;
            if reply.has_more {
                self.marks.clone_from(&reply.read);
                return true;
            }
        }
        for mark in &reply.read {
            match self.marks.iter_mut().find(|kept| kept.priority == mark.priority) {
                Some(kept) => *kept = (*kept).max(*mark),
                None => self.marks.push(*mark),
            }
        }
        if !was_full && !reply.has_more {
            self.is_behind = true;
            return now >= self.full_not_before;
        }
        reply.has_more
    }

    /// When to read next although no notification of new work has come; `None` leaves the time to the poll interval.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let full_at = self.is_behind.then_some(self.full_not_before);
        [self.due_at, full_at].into_iter().flatten().min()
    }
}
