//! Faults on purpose, for tests: feature `fault-points`, off by default.
//!
//! `FLOW_FAULT=<point>:<n>:<action>` acts the n-th time this process passes a point. Actions: `kill` (SIGKILL), `stop`
//! (SIGSTOP), `error` (as if the connection was lost there). Points: `claimed` (tasks were claimed, no handler has begun),
//! `handling` (a handler begins), `handled` (it has ended, nothing was sent), `committed` (an exchange was committed, its
//! reply is not looked at), `reserved` (a worker's slots are kept for a start), `started` (a start that may hand over was
//! committed, its reply is not looked at), `handed` (its reply is not taken over), `renewing` (leases are about to be renewed), `deploying` (the flow was deployed, the worker is
//! not registered).

/// Passes a point; true when the caller is to behave as if the connection was lost here.
#[cfg(not(feature = "fault-points"))]
pub(crate) fn is_cut(_point: &str) -> bool {
    false
}

#[cfg(feature = "fault-points")]
pub(crate) use on::is_cut;

#[cfg(feature = "fault-points")]
mod on {
    use std::{
        process::Command,
        sync::{
            LazyLock,
            atomic::{AtomicU32, Ordering},
        },
        time::Duration,
    };

    /// The one fault of this process.
    struct Fault {
        point: String,
        at: u32,
        action: String,
        passed: AtomicU32,
    }

    static FAULT: LazyLock<Option<Fault>> = LazyLock::new(|| {
        let text = std::env::var("FLOW_FAULT").ok()?;
        let parts: Vec<&str> = text.split(':').collect();
        let [point, at, action] = parts[..] else { panic!("FLOW_FAULT is `{text}`; expected point:n:action") };
        let at = at.parse().unwrap_or_else(|_| panic!("FLOW_FAULT is `{text}`; n must be a whole number"));
        Some(Fault { point: point.to_owned(), at, action: action.to_owned(), passed: AtomicU32::new(0) })
    });

    /// Passes a point; true when the caller is to behave as if the connection was lost here.
    pub(crate) fn is_cut(point: &str) -> bool {
        let Some(fault) = FAULT.as_ref().filter(|fault| fault.point == point) else { return false };
        if fault.passed.fetch_add(1, Ordering::SeqCst) + 1 != fault.at {
            return false;
        }
        match fault.action.as_str() {
            "error" => true,
            "kill" => signal("-KILL"),
            "stop" => signal("-STOP"),
            other => panic!("FLOW_FAULT has the action `{other}`; expected kill, stop or error"),
        }
    }

    /// Sends a signal to this process, and waits until it has arrived.
    fn signal(name: &str) -> bool {
        let sent = Command::new("kill").args([name, &std::process::id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "the signal {name} could not be sent");
        std::thread::sleep(Duration::from_millis(if name == "-KILL" { 60_000 } else { 10 }));
        false
    }
}
