//! What one measurement says: a JSON line.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// One measurement. A step here is a task of a step: a map counts each of its elements.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Line {
    pub(crate) case: Cow<'static, str>,
    /// Runs, elements or messages, as the case says.
    pub(crate) size: usize,
    /// What else was set: workers, bytes, history.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) settings: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) steps_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tasks_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) runs_per_s: Option<f64>,
    /// From the start of a run until its caller knows the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) p50_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) p99_ms: Option<f64>,
    /// Microseconds a claim of ten and its settlement take, the middle one of many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exchange_us: Option<f64>,
    /// CPU of all processes of the server, from /proc; missing where there is no /proc or the server is elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pg_cpu_us_per_step: Option<f64>,
    /// CPU of this process: workers and client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client_cpu_us_per_step: Option<f64>,
    /// Postgres CPU for a message that is only sent, read and deleted through PGMQ's own functions, in batches of 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pgmq_floor_us: Option<f64>,
    /// Transactions that ended, however they did. Each statement of worker and client is one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) statements_per_step: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commits_per_step: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wal_bytes_per_step: Option<f64>,
    /// Share of all updates that touched no index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hot_share: Option<f64>,
    /// How much the database grew for each task that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes_per_task: Option<f64>,
    pub(crate) fsync: String,
    pub(crate) synchronous_commit: String,
    /// Transactions a second of a fixed script, before and after: what this machine gives just now.
    pub(crate) yardstick_tps: f64,
}

impl Line {
    /// Steps, tasks or runs a second, whichever it is.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.steps_per_s.or(self.tasks_per_s).or(self.runs_per_s)
    }

    /// What the rate, or else the median, counts.
    pub(crate) fn rate_name(&self) -> &'static str {
        match (self.steps_per_s, self.tasks_per_s, self.runs_per_s) {
            (Some(_), ..) => "steps a second",
            (_, Some(_), _) => "tasks a second",
            (.., Some(_)) => "runs a second",
            _ => "median in ms",
        }
    }
}

/// Three digits behind the point are enough.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
