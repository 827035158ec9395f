//! The options of a worker, with their bounds.

use std::{ops::RangeInclusive, time::Duration};

use crate::{
    database::deploy::{OnDrift, OnOptions},
    error::BuildError,
};

/// The options of one worker.
#[derive(Debug, Clone)]
pub(crate) struct WorkerConfig {
    pub(crate) name: Option<String>,
    pub(crate) concurrency: Option<usize>,
    pub(crate) batch: usize,
    pub(crate) lease: Duration,
    pub(crate) poll_interval: Duration,
    pub(crate) grace: Duration,
    pub(crate) drain_wait: Duration,
    pub(crate) on_drift: OnDrift,
    pub(crate) on_options: OnOptions,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self {
            name: None,
            concurrency: None,
            batch: 100,
            lease: Duration::from_secs(30),
            poll_interval: Duration::from_secs(1),
            grace: Duration::from_secs(30),
            drain_wait: Duration::from_secs(60),
            on_drift: OnDrift::Report,
            on_options: OnOptions::KeepNewer,
        }
    }
}

impl WorkerConfig {
    /// Refuses the first option whose value is out of range.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        let hour = Duration::from_secs(3600);
        check("concurrency", self.concurrency.unwrap_or(1), 1..=10_000, "from 1 to 10000")?;
        check("batch", self.batch, 1..=1_000, "from 1 to 1000")?;
        check("lease", self.lease, Duration::from_secs(1)..=hour, "from 1s to 1h")?;
        check("poll_interval", self.poll_interval, Duration::from_millis(10)..=hour, "from 10ms to 1h")?;
        check("grace", self.grace, Duration::ZERO..=24 * hour, "at most 24h")?;
        check("drain_wait", self.drain_wait, Duration::ZERO..=24 * hour, "at most 24h")
    }
}

fn check<T: PartialOrd + std::fmt::Debug>(
    option: &'static str,
    value: T,
    range: RangeInclusive<T>,
    expected: &'static str,
) -> Result<(), BuildError> {
    if range.contains(&value) {
        Ok(())
    } else {
        Err(BuildError::Option { option, value: format!("{value:?}"), expected })
    }
}
