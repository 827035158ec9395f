//! How much one exchange may settle and claim: less after the database refused it, and no more bytes than one reply should hold.

/// The most results that one exchange settles.
const SETTLE_COUNT: usize = 1_000;

/// How many bytes of values one exchange is to claim at most, by the size of the tasks before.
const CLAIM_BYTES: usize = 64 << 20;

/// How much one exchange may do, while the database refuses more.
pub(super) struct BatchLimits {
    pub(super) settle_at_most: usize,
    pub(super) claim_at_most: usize,
    /// Settle and claim in exchanges of their own.
    pub(super) settles_apart: bool,
    /// The least that can be asked for was refused once.
    pub(super) is_least: bool,
    /// The least was refused twice: claim one task, and fail its run when its values cannot be sent.
    pub(super) is_careful: bool,
    /// How many bytes of values a task had lately.
    task_bytes: usize,
}

impl Default for BatchLimits {
    fn default() -> Self {
        Self {
            settle_at_most: SETTLE_COUNT,
            claim_at_most: usize::MAX,
            settles_apart: false,
            is_least: false,
            is_careful: false,
            task_bytes: 1,
        }
    }
}

impl BatchLimits {
    /// An exchange went well: the next may do twice as much.
    pub(super) fn grow(&mut self) {
        self.settle_at_most = self.settle_at_most.saturating_mul(2).min(SETTLE_COUNT);
        self.claim_at_most = self.claim_at_most.saturating_mul(2);
        self.settles_apart &= self.settle_at_most < SETTLE_COUNT;
        self.is_least = false;
        self.is_careful = false;
    }

    /// Remembers how large the claimed tasks were; a smaller size is believed by and by.
    pub(super) fn learn(&mut self, bytes: usize, tasks: usize) {
        if let Some(average) = bytes.checked_div(tasks) {
            self.task_bytes = average.max(self.task_bytes / 2).max(1);
        }
    }

    /// How many tasks the next exchange may claim.
    pub(super) fn claim_limit(&self) -> usize {
        self.claim_at_most.min((CLAIM_BYTES / self.task_bytes).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // W13
    #[test]
    fn large_tasks_are_claimed_few_at_a_time() {
        let mut limits = BatchLimits::default();
        limits.learn(100 << 20, 10);
        assert_eq!(limits.claim_limit(), 6, "of 10 MB each");
        limits.learn(90 << 20, 1);
        assert_eq!(limits.claim_limit(), 1);
        for _ in 0..10 {
            limits.learn(10, 10);
        }
        assert!(limits.claim_limit() > 500, "a smaller size is believed by and by");
        limits.claim_at_most = 1;
        assert_eq!(limits.claim_limit(), 1);
        limits.grow();
        assert_eq!(limits.claim_limit(), 2);
    }
}
