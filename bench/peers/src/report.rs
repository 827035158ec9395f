//! What one measurement says, and the tables of all of them.

use serde::{Deserialize, Serialize};

use crate::{bench::Case, peer_name::PeerName};

/// One measurement. Numbers a step are of all the work between the first start and the last end.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) peer: String,
    pub(crate) case: String,
    pub(crate) size: u32,
    pub(crate) seconds: f64,
    /// `None` when it did not end in time.
    pub(crate) steps_per_s: Option<f64>,
    pub(crate) pg_cpu_us_per_step: Option<f64>,
    pub(crate) client_cpu_us_per_step: Option<f64>,
    pub(crate) wal_bytes_per_step: Option<f64>,
    pub(crate) commits_per_step: Option<f64>,
    pub(crate) p50_ms: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
    pub(crate) settings: String,
    /// Why it is not a whole measurement.
    pub(crate) note: Option<String>,
}

impl Report {
    /// The number that the case is about.
    fn main_number(&self) -> Option<f64> {
        if self.case == Case::Latency.name() { self.p50_ms } else { self.steps_per_s }
    }
}

/// What came of all rounds of one case of one peer.
pub(crate) enum Outcome {
    Measured(Vec<Report>),
    /// It has no such thing.
    HasNone,
    /// It ended with an error: the first of them.
    Failed(String),
}

/// How each peer was set up.
pub(crate) fn settings<'a>(reports: impl Iterator<Item = &'a Report>) -> String {
    let mut seen = Vec::new();
    let mut list = String::new();
    for report in reports {
        if !seen.contains(&&report.peer) {
            seen.push(&report.peer);
            list += &format!("- {}: {}\n", report.peer, report.settings);
        }
    }
    list
}

/// The table of one case, its numbers the medians of the rounds.
pub(crate) fn table(case: Case, rows: &[(PeerName, Outcome)]) -> String {
    let head =
        if case == Case::Latency { "p50 ms | of flow | p99 ms" } else { "steps/s | of flow | lowest to highest" };
    let mut table = format!(
        "### {}\n\n| peer | {head} | Postgres CPU µs/step | client CPU µs/step | WAL bytes/step | commits/step |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n",
        case.name()
    );
    let flow = rows.iter().find_map(|(peer, outcome)| match outcome {
        Outcome::Measured(reports) if *peer == PeerName::Flow => median(reports, Report::main_number),
        _ => None,
    });
    for (peer, outcome) in rows {
        table += &match outcome {
            Outcome::HasNone => format!("| {} | has none | | | | | | |\n", peer.name()),
            Outcome::Failed(error) => format!("| {} | failed: {error} | | | | | | |\n", peer.name()),
            Outcome::Measured(reports) => row(case, *peer, reports, flow),
        };
    }
    table
}

fn row(case: Case, peer: PeerName, reports: &[Report], flow: Option<f64>) -> String {
    if let Some(note) = reports.iter().find_map(|report| report.note.as_ref())
        && case != Case::Latency
    {
        return format!("| {} | {note} | | | | | | |\n", peer.name());
    }
    let main = median(reports, Report::main_number);
    let third =
        if case == Case::Latency { number(median(reports, |report| report.p99_ms), 1) } else { spread(reports) };
    let runs = if case == Case::Latency { reports.iter().find_map(|report| report.note.as_ref()) } else { None };
    format!(
        "| {} | {} | {} | {third} | {} | {} | {} | {} |\n",
        runs.map_or_else(|| peer.name().to_owned(), |note| format!("{} ({note})", peer.name())),
        number(main, if case == Case::Latency { 1 } else { 0 }),
        number(main.zip(flow).map(|(main, flow)| main / flow), 2),
        number(median(reports, |report| report.pg_cpu_us_per_step), 0),
        number(median(reports, |report| report.client_cpu_us_per_step), 0),
        number(median(reports, |report| report.wal_bytes_per_step), 0),
        number(median(reports, |report| report.commits_per_step), 2),
    )
}

fn spread(reports: &[Report]) -> String {
    let values: Vec<f64> = reports.iter().filter_map(|report| report.steps_per_s).collect();
    let lowest = values.iter().copied().reduce(f64::min);
    let highest = values.iter().copied().reduce(f64::max);
    format!("{} to {}", number(lowest, 0), number(highest, 0))
}

fn median(reports: &[Report], value: impl Fn(&Report) -> Option<f64>) -> Option<f64> {
    median_of(reports.iter().filter_map(value).collect())
}

/// The middle value; of an even count, the mean of the middle two.
pub(crate) fn median_of(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.decimals$}"))
}
