//! How much one exchange may settle and claim. The limits shrink after the database has refused an exchange, and a claim is limited by
//! the bytes that its reply would carry.

/// The most results that one exchange settles.
const SETTLE_COUNT: usize = 1_000;

/// The most bytes of values that one exchange should claim. The count of tasks is estimated from the size of earlier tasks.
const CLAIM_BYTES: usize = 64 << 20;

/// The limits of the next exchange.
pub(super) struct BatchLimits {
    pub(super) settle_at_most: usize,
    pub(super) claim_at_most: usize,
    /// Whether results and claims go in separate exchanges.
    pub(super) settles_apart: bool,
    /// An exchange that settled nothing and claimed at most one task was refused.
    pub(super) is_least: bool,
    /// Such an exchange was refused twice, or once with an error about its data. The next exchange claims one task, and the database fails
    /// the task's run when the task's values cannot be sent.
    pub(super) is_careful: bool,
    /// The estimated size of a task's values, in bytes.
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
    /// Doubles the limits after an exchange that was answered, up to their defaults.
    pub(super) fn grow(&mut self) {
        self.settle_at_most = self.settle_at_most.saturating_mul(2).min(SETTLE_COUNT);
        self.claim_at_most = self.claim_at_most.saturating_mul(2);
        self.settles_apart &= self.settle_at_most < SETTLE_COUNT;
        self.is_least = false;
        self.is_careful = false;
    }

    /// Learns from the claimed tasks how large tasks are. The estimate rises at once and falls by half at most, so that a few small tasks
    /// do not hide large ones.
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
