//! What the journals of a load say, held against the database that is left.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    fmt, fs,
    path::{Path, PathBuf},
};

use sqlx::PgPool;
use uuid::Uuid;

use super::journal::{Event, Journal};

/// The longest that a start may take: its own deadline (60 s), getting a connection, and one more that serves it alone.
const START_LIMIT: f64 = 90.0;

/// The longest that a wait may be answered after its run has ended: a look and a read that find frozen connections, in turn.
const WAIT_LIMIT: f64 = 90.0;

/// The files of one load, and when it was under way.
pub(super) struct Journals {
    pub(super) workers: Vec<PathBuf>,
    pub(super) clients: Vec<PathBuf>,
    pub(super) logs: Vec<PathBuf>,
    pub(super) outage_at: u64,
    pub(super) stopped_at: u64,
}

/// What a load showed. The lists name what must not be.
#[derive(Default)]
pub struct Figures {
    /// Starts that were answered with a run.
    pub started: usize,
    /// Starts that were answered with an error.
    pub refused: usize,
    /// Answered starts whose run has ended as it should.
    pub ended: usize,
    /// The longest start, in seconds.
    pub longest_start: f64,
    /// The longest time from a run's end to its wait's answer, in seconds.
    pub longest_wait: f64,
    /// The longest time in which some worker began nothing, in seconds.
    pub longest_gap: f64,
    /// From the begin of the outage until each worker had begun something and each client had waited for a run that it started after
    /// that, in seconds.
    pub recovery: Option<f64>,
    /// Lines of the logs that warn or tell an error.
    pub warnings: usize,
    /// Answered starts that are not in the database, or whose run has not ended.
    pub lost: Vec<String>,
    /// Answers of waits that are not what the database has.
    pub wrong: Vec<String>,
    /// Calls and processes that went on beyond their deadline.
    pub hung: Vec<String>,
    /// Attempts that ran beside another one of the same task although no lease was over.
    pub overlapped: Vec<String>,
    /// Attempts that another worker ran once more beside the first, because the database had lost that they were claimed.
    pub claimed_again: Vec<String>,
    /// Rows that break an invariant.
    pub broken: Vec<String>,
}

impl Figures {
    /// The head of the table.
    pub const HEAD: &'static str = "| outage | started | refused | ended | longest start s | wait after end s | gap in work s | back after s | warnings | \
         lost | claimed again | wrong | hung | overlapped | broken rows |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|";

    /// The table's row of one outage.
    pub fn row(&self, outage: &str) -> String {
        let recovery = self.recovery.map_or("never".to_owned(), |seconds| format!("{seconds:.1}"));
        format!(
            "| {outage} | {} | {} | {} | {:.1} | {:.1} | {:.1} | {recovery} | {} | {} | {} | {} | {} | {} | {} |",
            self.started,
            self.refused,
            self.ended,
            self.longest_start,
            self.longest_wait,
            self.longest_gap,
            self.warnings,
            self.lost.len(),
            self.claimed_again.len(),
            self.wrong.len(),
            self.hung.len(),
            self.overlapped.len(),
            self.broken.len()
        )
    }

    /// Fails unless nothing was lost, wrong, hung, beside itself or broken, and work went on after the outage.
    ///
    /// # Panics
    /// With everything that was not so.
    pub fn check_all(&self) {
        assert!(self.lost.is_empty() && self.claimed_again.is_empty(), "{self:?}");
        self.check_but_lost();
    }

    /// The same, but what was committed last may be lost, starts and claims: for a server that promises no more.
    ///
    /// # Panics
    /// As [`Figures::check_all`].
    pub fn check_but_lost(&self) {
        let lists = [&self.wrong, &self.hung, &self.overlapped, &self.broken];
        assert!(lists.iter().all(|list| list.is_empty()), "{self:?}");
        assert!(self.recovery.is_some(), "nothing went on after the outage: {self:?}");
    }
}

impl fmt::Debug for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}", Self::HEAD, self.row("this"))?;
        let lists = [
            ("lost", &self.lost),
            ("wrong", &self.wrong),
            ("hung", &self.hung),
            ("overlapped", &self.overlapped),
            ("claimed again", &self.claimed_again),
            ("broken", &self.broken),
        ];
        for (what, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            writeln!(f, "{what}, of {}: {:#?}", list.len(), &list[..list.len().min(20)])?;
        }
        Ok(())
    }
}

/// When a worker began the first call after `outage_at`.
pub(super) fn worked_at(worker: &Path, outage_at: u64) -> Option<u64> {
    let events = Journal::read(worker);
    events.iter().find(|event| event.kind == "begin" && event.at > outage_at).map(|event| event.at)
}

/// When a client had waited for the first run that it asked for after `outage_at`.
pub(super) fn answered_at(client: &Path, outage_at: u64) -> Option<u64> {
    let events = Journal::read(client);
    let after: HashSet<&str> = asked(&events, "ask", |event| event.at > outage_at);
    let answered = |event: &&Event| event.kind == "answer" && event.fields[2] == "ok";
    events.iter().filter(answered).find(|event| after.contains(event.fields[0].as_str())).map(|event| event.at)
}

/// The numbers of the events of one kind that fit.
fn asked<'a>(events: &'a [Event], kind: &str, fits: impl Fn(&Event) -> bool) -> HashSet<&'a str> {
    let of_kind = events.iter().filter(|event| event.kind == kind && fits(event));
    of_kind.map(|event| event.fields[0].as_str()).collect()
}

fn seconds(from: u64, to: u64) -> f64 {
    to.saturating_sub(from) as f64 / 1e6
}

/// A run as the database has it.
struct Stored {
    status: String,
    output: String,
    ended_at: Option<u64>,
}

pub(super) async fn judge(journals: &Journals, url: &str) -> Figures {
    let pool = PgPool::connect(url).await.unwrap();
    let runs = stored_runs(&pool).await;
    let mut figures = Figures::default();
    for client in &journals.clients {
        judge_client(&mut figures, &Journal::read(client), &runs);
    }
    let worked = journals.workers.iter().map(|worker| worked_at(worker, journals.outage_at));
    let answered = journals.clients.iter().map(|client| answered_at(client, journals.outage_at));
    let back_at: Option<Vec<u64>> = worked.chain(answered).collect();
    figures.recovery = back_at.and_then(|all| all.into_iter().max()).map(|at| seconds(journals.outage_at, at));
    let mut calls = Vec::new();
    for worker in &journals.workers {
        let events = Journal::read(worker);
        figures.longest_gap = figures.longest_gap.max(longest_gap(&events, journals.stopped_at));
        calls.extend(events);
    }
    judge_calls(&mut figures, &calls, &ended_leases(&pool).await);
    figures.broken = broken_rows(&pool).await;
    let is_warning = |line: &&str| line.contains(" WARN ") || line.contains(" ERROR ");
    let logs = journals.logs.iter().map(|log| fs::read_to_string(log).unwrap());
    figures.warnings = logs.map(|log| log.lines().filter(is_warning).count()).sum();
    pool.close().await;
    figures
}

fn judge_client(figures: &mut Figures, events: &[Event], runs: &HashMap<String, Stored>) {
    let mut asked_at = HashMap::new();
    let answered = asked(events, "answer", |_| true);
    for event in events {
        let number = event.fields[0].as_str();
        match event.kind.as_str() {
            "ask" => drop(asked_at.insert(number, event.at)),
            "start" | "refuse" => {
                let took = seconds(asked_at.remove(number).unwrap(), event.at);
                figures.longest_start = figures.longest_start.max(took);
                if took > START_LIMIT {
                    figures.hung.push(format!("start {number} took {took:.1} s"));
                }
                if event.kind == "refuse" {
                    figures.refused += 1;
                    continue;
                }
                figures.started += 1;
                let run = &event.fields[1];
                match runs.get(run) {
                    None => figures.lost.push(format!("run {run} of start {number} is not there")),
                    Some(stored) if stored.status == "completed" => figures.ended += 1,
                    Some(stored) => figures.lost.push(format!("run {run} of start {number} is {}", stored.status)),
                }
                if !answered.contains(number) {
                    figures.hung.push(format!("the wait for run {run} of start {number} was not answered"));
                }
            }
            "answer" => judge_answer(figures, event, runs.get(&event.fields[1])),
            other => panic!("a client did `{other}`"),
        }
    }
    figures.hung.extend(asked_at.keys().map(|number| format!("start {number} was not answered")));
}

fn judge_answer(figures: &mut Figures, event: &Event, stored: Option<&Stored>) {
    let [number, run, kind, text] = &event.fields[..] else { panic!("an answer has four fields") };
    let is_right = match (kind.as_str(), stored) {
        ("ok", Some(stored)) => stored.status == "completed" && stored.output == *text,
        // Both are lost, and counted so.
        ("ok" | "not_found", None) => true,
        _ => false,
    };
    if !is_right {
        let has = stored.map_or("nothing", |stored| stored.status.as_str());
        figures
            .wrong
            .push(format!("the wait for run {run} of start {number} said {kind} {text}; the database has {has}"));
    }
    if let Some(ended_at) = stored.and_then(|stored| stored.ended_at) {
        let took = seconds(ended_at, event.at);
        figures.longest_wait = figures.longest_wait.max(took);
        if took > WAIT_LIMIT {
            figures.hung.push(format!("the wait for run {run} was answered {took:.1} s after its end"));
        }
    }
}

/// The longest time between two begins of one worker, up to when the load was told to stop.
fn longest_gap(events: &[Event], stopped_at: u64) -> f64 {
    let begins = events.iter().filter(|event| event.kind == "begin" && event.at < stopped_at).map(|event| event.at);
    let begins: Vec<u64> = begins.chain([stopped_at]).collect();
    begins.windows(2).map(|pair| seconds(pair[0], pair[1])).fold(0.0, f64::max)
}

/// One attempt as its handler saw it.
struct Attempt<'a> {
    number: u32,
    begins_at: u64,
    ends_at: u64,
    worker: &'a str,
}

/// Finds the attempts that ran beside another one of the same task, unless the lease of the earlier one had ended by then.
fn judge_calls(figures: &mut Figures, events: &[Event], ended_leases: &HashMap<(String, u32), Vec<u64>>) {
    for (task, mut attempts) in attempts(figures, events) {
        attempts.sort_by_key(|attempt| attempt.begins_at);
        for (at, earlier) in attempts.iter().enumerate() {
            for later in attempts[at + 1..].iter().filter(|later| later.begins_at < earlier.ends_at) {
                let ended = ended_leases.get(&(task.clone(), earlier.number)).into_iter().flatten();
                let has_ended = ended.clone().any(|at| (earlier.begins_at..=later.begins_at).contains(at));
                if later.number >= earlier.number && has_ended {
                    continue;
                }
                let is_claimed_again = later.number == earlier.number && later.worker != earlier.worker;
                let list = if is_claimed_again { &mut figures.claimed_again } else { &mut figures.overlapped };
                list.push(format!(
                    "{task}: attempt {} of worker {} beside attempt {} of worker {}, for {:.3} s",
                    later.number,
                    later.worker,
                    earlier.number,
                    earlier.worker,
                    seconds(later.begins_at, earlier.ends_at)
                ));
            }
        }
    }
}

/// The attempts of each task. Every call has an end, since no process of the load is killed.
fn attempts<'a>(figures: &mut Figures, events: &'a [Event]) -> HashMap<String, Vec<Attempt<'a>>> {
    // What was lost in company begins again as the same attempt, maybe in the same worker.
    let mut open: HashMap<&[String], VecDeque<u64>> = HashMap::new();
    let mut tasks: HashMap<String, Vec<Attempt<'_>>> = HashMap::new();
    for event in events.iter().filter(|event| event.kind == "begin" || event.kind == "end") {
        let [run, step, task, attempt, worker] = &event.fields[..] else { panic!("a call has five fields") };
        if event.kind == "begin" {
            open.entry(&event.fields).or_default().push_back(event.at);
        } else if let Some(begins_at) = open.get_mut(&event.fields[..]).and_then(VecDeque::pop_front) {
            let attempt = Attempt { number: attempt.parse().unwrap(), begins_at, ends_at: event.at, worker };
            tasks.entry(format!("{run} {step} {task}")).or_default().push(attempt);
        }
    }
    let still_open = open.iter().filter(|(_, begins)| !begins.is_empty());
    figures.hung.extend(still_open.map(|(call, _)| format!("the call {} did not end", call.join(" "))));
    tasks
}

async fn stored_runs(pool: &PgPool) -> HashMap<String, Stored> {
    let select = "select r.run_id, r.status::text, coalesce(r.output ->> 'sum', ''), (1e6 * extract(epoch from r.ended_at))::bigint
                  from flow.run r";
    let rows: Vec<(Uuid, String, String, Option<i64>)> = sqlx::query_as(select).fetch_all(pool).await.unwrap();
    let stored = |(run, status, output, ended_at): (Uuid, String, String, Option<i64>)| {
        (run.to_string(), Stored { status, output, ended_at: ended_at.map(i64::unsigned_abs) })
    };
    rows.into_iter().map(stored).collect()
}

/// When which attempt's lease was found to have ended, by task and attempt: more than once where it was lost in company.
async fn ended_leases(pool: &PgPool) -> HashMap<(String, u32), Vec<u64>> {
    let select =
        "select e.run_id || ' ' || d.slug || ' ' || e.task_index, e.attempt, (1e6 * extract(epoch from e.at))::bigint
                  from flow.attempt_error e
                  join flow.run r using (run_id)
                  join flow.step d on d.flow_id = r.flow_id and d.step_index = e.step_index
                  where e.cause = 'lease_expired'";
    let rows: Vec<(String, i32, i64)> = sqlx::query_as(select).fetch_all(pool).await.unwrap();
    let mut ended: HashMap<_, Vec<u64>> = HashMap::new();
    for (task, attempt, at) in rows {
        ended.entry((task, attempt.unsigned_abs())).or_default().push(at.unsigned_abs());
    }
    ended
}

async fn broken_rows(pool: &PgPool) -> Vec<String> {
    sqlx::raw_sql(include_str!("../../sql/broken_rows.sql")).execute(pool).await.unwrap();
    let select = "select concat_ws(' ', b.invariant, b.run_id, b.what) from flow.broken_rows() b";
    sqlx::query_scalar(select).fetch_all(pool).await.unwrap()
}
