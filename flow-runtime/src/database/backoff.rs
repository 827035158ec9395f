//! Growing pauses with jitter between tries to reach a database that is away.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(3);

/// The pauses between tries: 0.2 s, doubling up to 3 s, each lengthened at random by up to a half.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    tries: u32,
}

impl Backoff {
    /// How long to wait before the next try.
    pub(crate) fn next_pause(&mut self) -> Duration {
        let pause = FIRST.saturating_mul(1 << self.tries.min(8)).min(LONGEST);
        self.tries = self.tries.saturating_add(1);
        // The random keys of a new hasher are randomness enough for jitter.
        let jitter = RandomState::new().hash_one(self.tries) % 1000;
        pause + pause.mul_f64(jitter as f64 / 2000.0)
    }

    /// Makes the next pause the shortest again, because the database has answered.
    pub(crate) fn reset(&mut self) {
        self.tries = 0;
    }
}
