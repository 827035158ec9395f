//! Faults on purpose, for tests. They exist only with the feature `fault-points`, which is off by default.
//!
//! `FLOW_FAULT=<point>:<n>:<action>` makes this process act when it passes the point for the n-th time. The actions are `kill` (SIGKILL),
//! `stop` (SIGSTOP) and `error` (go on as if the connection was lost there; without effect at `handling` and `handled`). The points are:
//!
//! | point | passed when |
//! |---|---|
//! | `claimed` | an exchange has claimed tasks, and none of their handlers has begun |
//! | `handling` | a handler is about to begin |
//! | `handled` | a handler has ended, and its result was not sent |
//! | `committed` | an exchange was committed, and its reply was not read |
//! | `reserved` | a worker's slots are reserved for a start, and the start was not sent |
//! | `started` | a start that may hand over was committed, and its reply was not read |
//! | `handed` | a start has handed work out, and the worker has not taken the work over |
//! | `renewing` | a process whose workers hold work is about to renew its lease |
//! | `deploying` | the flow was deployed, and the worker is not registered |

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
