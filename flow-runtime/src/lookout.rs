//! Tells, now and then, which queues of a flow have work and no worker, or work that nobody would take up: once a process, and only
//! what is new.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How long after its first worker of a flow a process looks first: the other workers of a set have started by then.
const FIRST_PAUSE: Duration = Duration::from_secs(3);

/// How long it then does not look again. Source: a missing pool is noticed within a minute, at a query a minute.
const PAUSE: Duration = Duration::from_secs(60);

/// What the workers of one process have seen of each flow's queues.
#[derive(Debug, Default)]
pub(crate) struct Lookout {
    flows: Mutex<HashMap<String, Sight>>,
}

#[derive(Debug, Default)]
struct Sight {
    next_look_at: Option<Instant>,
    unserved: Vec<String>,
    stranded: Vec<String>,
}

impl Lookout {
    /// Whether it is time to look at the queues of `flow`. Who is told so looks; the others of the process need not.
    pub(crate) fn is_due(&self, flow: &str, now: Instant) -> bool {
        self.with(flow, |sight| {
            let next = *sight.next_look_at.get_or_insert(now + FIRST_PAUSE);
            let is_due = now >= next;
            if is_due {
                sight.next_look_at = Some(now + PAUSE);
            }
            is_due
        })
    }

    /// Logs the unserved and the stranded queues of `flow`, unless they are the same as last time.
    pub(crate) fn report(&self, flow: &str, unserved: Vec<String>, stranded: Vec<String>) {
        let (is_news, is_damage_news) = self.with(flow, |sight| {
            let news = (sight.unserved != unserved, sight.stranded != stranded);
            sight.unserved.clone_from(&unserved);
            sight.stranded.clone_from(&stranded);
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

    fn with<T>(&self, flow: &str, act: impl FnOnce(&mut Sight) -> T) -> T {
        // A sight is whole between any two statements, so a panic elsewhere leaves nothing half written.
        let mut flows = self.flows.lock().unwrap_or_else(PoisonError::into_inner);
        act(flows.entry(flow.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_worker_of_a_process_looks_once_a_minute() {
        let (lookout, start) = (Lookout::default(), Instant::now());
        let is_due = |flow, seconds| lookout.is_due(flow, start + Duration::from_secs(seconds));
        assert!(!is_due("shop", 0) && is_due("shop", 3) && !is_due("shop", 3) && !is_due("shop", 62));
        assert!(!is_due("mill", 62), "flows are looked at apart");
        assert!(is_due("shop", 63) && !is_due("shop", 64));
    }
}
