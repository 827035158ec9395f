//! The retry schedule: how long a failed task waits.

use std::time::Duration;

/// The largest factor by which jitter may stretch a delay.
pub const MAX_JITTER: f64 = 1.1;

/// Delays that double from `base` up to `cap`.
///
/// The database computes the delays of real retries with this same formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetrySchedule {
    /// The delay before the first retry.
    pub base: Duration,
    /// The longest delay, before jitter.
    pub cap: Duration,
}

impl RetrySchedule {
    /// The delay before retry number `retry`, counted from 1, without jitter.
    pub fn delay(&self, retry: u32) -> Duration {
        let doublings = retry.saturating_sub(1);
        let factor = 1_u32.checked_shl(doublings);
        let delay = factor.and_then(|factor| self.base.checked_mul(factor));
        match delay {
            Some(delay) => delay.min(self.cap),
            None if self.base.is_zero() => Duration::ZERO,
            None => self.cap,
        }
    }

    /// The delay before retry number `retry` with jitter; `chance` is a random number from 0 to 1.
    pub fn jittered_delay(&self, retry: u32, chance: f64) -> Duration {
        self.delay(retry).mul_f64(1.0 + chance.clamp(0.0, 1.0) * (MAX_JITTER - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn delays_double_up_to_the_cap() {
        let schedule = RetrySchedule { base: SECOND, cap: Duration::from_secs(300) };
        let seconds: Vec<u64> = (1..=11).map(|retry| schedule.delay(retry).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        assert_eq!(schedule.delay(u32::MAX), schedule.cap);
    }

    #[test]
    fn without_a_base_there_is_no_delay() {
        let schedule = RetrySchedule { base: Duration::ZERO, cap: SECOND };
        assert!([1, 2, 33, 1_000].into_iter().all(|retry| schedule.delay(retry).is_zero()));
    }

    #[test]
    fn jitter_adds_at_most_a_tenth() {
        let schedule = RetrySchedule { base: SECOND, cap: Duration::from_secs(300) };
        assert_eq!(schedule.jittered_delay(1, 0.0), SECOND);
        assert_eq!(schedule.jittered_delay(1, 1.0).as_millis(), 1_100);
        assert!(schedule.jittered_delay(1, 0.5) > SECOND);
    }
}
