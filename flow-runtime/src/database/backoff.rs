//! Growing pauses with jitter between tries to reach a database that is away.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(3);

/// The pauses between tries: 0.2 s doubling to 3 s, each up to half as long again.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    tries: u32,
}

impl Backoff {
    /// How long to wait before the next try.
    pub(crate) fn next_pause(&mut self) -> Duration {
        let pause = FIRST.saturating_mul(1 << self.tries.min(8)).min(LONGEST);
        self.tries = self.tries.saturating_add(1);
        // The hasher's random keys are all the randomness that jitter needs.
        let jitter = RandomState::new().hash_one(self.tries) % 1000;
        pause + pause.mul_f64(jitter as f64 / 2000.0)
    }

    /// The database is back: the next pause is the shortest again.
    pub(crate) fn reset(&mut self) {
        self.tries = 0;
    }
}
