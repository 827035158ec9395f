//! The check for unserved and stranded queues: once a minute a process looks which queues of its flows have work and no worker, or work
//! that no worker would ever take up. A worker of the flow logs what has changed since the last look.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The pause before a process first looks at a flow's queues. The other workers of a set have started by then, so their queues are served.
const FIRST_PAUSE: Duration = Duration::from_secs(3);

/// The shortest pause between two looks at one flow's queues. Source: a missing pool is noticed within about a minute, for one look a
/// minute.
const PAUSE: Duration = Duration::from_secs(60);

/// What one process has seen at its last look at each flow's queues.
#[derive(Debug, Default)]
pub(crate) struct UnservedCheck {
    flows: Mutex<HashMap<String, Seen>>,
}

#[derive(Debug, Default)]
struct Seen {
    next_look_at: Option<Instant>,
    unserved: Vec<String>,
    stranded: Vec<String>,
}

impl UnservedCheck {
    /// Returns true once a minute for each flow; the caller then looks at the queues of `flow`. Other workers of the flow get false.
    pub(crate) fn is_due(&self, flow: &str, now: Instant) -> bool {
        self.with(flow, |seen| {
            let next = *seen.next_look_at.get_or_insert(now + FIRST_PAUSE);
            let is_due = now >= next;
            if is_due {
                seen.next_look_at = Some(now + PAUSE);
            }
            is_due
        })
    }

    /// Logs the unserved and the stranded queues of `flow` that the last look found, unless the look before found the same.
    pub(crate) fn report(&self, flow: &str, unserved: Vec<String>, stranded: Vec<String>) {
        let (is_news, is_damage_news) = self.with(flow, |seen| {
            let news = (seen.unserved != unserved, seen.stranded != stranded);
            seen.unserved.clone_from(&unserved);
            seen.stranded.clone_from(&stranded);
            news
        });
        match (is_news, unserved.is_empty()) {
            (false, _) => {}
            (true, true) => tracing::info!(flow, "every queue with work has a worker again"),
            (true, false) => tracing::warn!(
                flow,
                queues = unserved.join(", "),
                "queues have work and no worker; start a worker for their steps"
            ),
        }
        if is_damage_news && !stranded.is_empty() {
            tracing::warn!(
                flow,
                queues = stranded.join(", "),
                "queues have work that nobody would take up, as after a purge by hand; call flow.repair_queue for each"
            );
        }
    }

    fn with<T>(&self, flow: &str, act: impl FnOnce(&mut Seen) -> T) -> T {
        // A poisoned lock is used all the same: a panic cannot leave an entry half written.
        let mut flows = self.flows.lock().unwrap_or_else(PoisonError::into_inner);
        act(flows.entry(flow.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_worker_of_a_process_looks_once_a_minute() {
        let (check, start) = (UnservedCheck::default(), Instant::now());
        let is_due = |flow, seconds| check.is_due(flow, start + Duration::from_secs(seconds));
        assert!(!is_due("shop", 0) && is_due("shop", 3) && !is_due("shop", 3) && !is_due("shop", 62));
        assert!(!is_due("mill", 62), "flows are looked at apart");
        assert!(is_due("shop", 63) && !is_due("shop", 64));
    }
}
