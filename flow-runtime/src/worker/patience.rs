//! How often a process renews its lease, and when it may end other processes. A process that could not renew its own lease for long
//! first gives the others the time to renew theirs, since the same outage may have kept them from renewing.

use std::time::{Duration, Instant};

/// The longest pause between two heartbeats, whatever the lease.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The pause between two renewals of a lease.
pub(super) fn renew_interval(lease: Duration) -> Duration {
    (lease / 3).min(LONGEST_PAUSE)
}

/// When a process has renewed its own lease, which decides whether it may end others.
pub(super) struct Patience {
    /// When the last renewal that was answered began.
    renewed_at: Instant,
    /// When the first renewal after the last gap of more than half a lease began; `None` when there was no such gap.
    came_back_at: Option<Instant>,
}

impl Patience {
    /// The record of a process that has registered at `now`, without a gap.
    pub(super) fn new(now: Instant) -> Self {
        Self { renewed_at: now, came_back_at: None }
    }

    /// Records that the renewal which began at `began_at` was answered.
    pub(super) fn renewed(&mut self, began_at: Instant, own_lease: Duration) {
        if began_at.duration_since(self.renewed_at) > own_lease / 2 {
            self.came_back_at = Some(began_at);
        }
        self.renewed_at = began_at;
    }

    /// Whether another process, with a lease of `its_lease` that is over, may be ended now. After a gap in this process's own renewals, the
    /// other process first gets the length of its lease to renew, counted from the end of the gap, whenever its lease ended.
    pub(super) fn may_end(&self, now: Instant, its_lease: Duration) -> bool {
        self.came_back_at.is_none_or(|came_back_at| now.duration_since(came_back_at) >= its_lease)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(30);

    fn seconds(begin: Instant, passed: u64) -> Instant {
        begin + Duration::from_secs(passed)
    }

    #[test]
    fn who_renews_as_usual_ends_others_at_once() {
        let begin = Instant::now();
        let mut patience = Patience::new(begin);
        patience.renewed(seconds(begin, 10), LEASE);
        patience.renewed(seconds(begin, 25), LEASE);
        assert!(patience.may_end(seconds(begin, 25), LEASE));
    }

    #[test]
    fn who_comes_back_waits_a_lease_of_each_whenever_that_lease_ends() {
        let begin = Instant::now();
        let mut patience = Patience::new(begin);
        patience.renewed(seconds(begin, 20), LEASE);
        for passed in [20, 21, 30, 40, 49] {
            patience.renewed(seconds(begin, passed), LEASE);
            assert!(!patience.may_end(seconds(begin, passed), LEASE), "after {passed} s");
        }
        assert!(patience.may_end(seconds(begin, 49), Duration::from_secs(5)), "a short lease has passed");
        assert!(patience.may_end(seconds(begin, 50), LEASE));
    }
}
