//! The load: worker processes, client processes, and the folder of their journals and logs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use super::{Figures, journal::now, judge};
use crate::support::eventually;

/// How long a client may go on waiting after it was told to start nothing more: longer than all deadlines of a call together.
const WAIT_LIMIT: Duration = Duration::from_secs(150);

/// How long a worker may take to stop.
const STOP_LIMIT: Duration = Duration::from_secs(90);

/// Who works and who starts, each by the address that it uses.
pub struct Plan<'a> {
    /// The program `load_process`.
    pub program: &'a str,
    /// The worker processes' addresses.
    pub workers: &'a [&'a str],
    /// The client processes' addresses.
    pub clients: &'a [&'a str],
}

/// A load that runs; its processes are killed when it is dropped.
pub struct Load {
    folder: PathBuf,
    workers: Vec<Runner>,
    clients: Vec<Runner>,
    outage_at: Option<u64>,
}

/// One process of the load.
struct Runner {
    child: Child,
    journal: PathBuf,
    log: PathBuf,
}

impl Load {
    /// Starts the processes and lets them work for a while.
    ///
    /// # Panics
    /// When a process does not start to work.
    pub async fn start(plan: &Plan<'_>) -> Self {
        let folder = std::env::temp_dir().join(format!("flow-outage-{}", uuid::Uuid::now_v7().simple()));
        fs::create_dir(&folder).unwrap();
        let mut load = Self { folder, workers: Vec::new(), clients: Vec::new(), outage_at: None };
        load.workers = load.start_all(plan.program, "worker", plan.workers);
        eventually("the workers are ready", async || {
            load.workers.iter().all(|worker| holds(&worker.log, "worker started"))
        })
        .await;
        load.clients = load.start_all(plan.program, "client", plan.clients);
        eventually("the load is under way", async || {
            load.workers.iter().all(|worker| holds(&worker.journal, "\tbegin\t"))
                && load.clients.iter().all(|client| holds(&client.journal, "\tanswer\t"))
        })
        .await;
        load
    }

    fn start_all(&self, program: &str, role: &str, urls: &[&str]) -> Vec<Runner> {
        let named = urls.iter().enumerate().map(|(at, url)| (format!("{role}_{at}"), url));
        named.map(|(name, url)| Runner::start(program, role, url, &self.folder.join(name))).collect()
    }

    /// Says that the outage begins now. Of several, the last one counts for how long work took to go on.
    pub fn outage_begins(&mut self) {
        self.outage_at = Some(now());
    }

    /// Whether, since the outage began, each worker has begun something, and each client has waited for a run that it started.
    ///
    /// # Panics
    /// When no outage has begun.
    pub fn has_recovered(&self) -> bool {
        let outage_at = self.outage_at.unwrap();
        self.workers.iter().all(|worker| judge::worked_at(&worker.journal, outage_at).is_some())
            && self.clients.iter().all(|client| judge::answered_at(&client.journal, outage_at).is_some())
    }

    /// Ends the load and judges what it did by the database at `url`.
    ///
    /// # Panics
    /// When that database cannot be asked.
    pub async fn finish(&mut self, url: &str) -> Figures {
        let stopped_at = now();
        let mut stuck = Vec::new();
        for (runners, limit) in [(&mut self.clients, WAIT_LIMIT), (&mut self.workers, STOP_LIMIT)] {
            runners.iter().for_each(|runner| signal(runner.child.id(), "TERM"));
            let until = Instant::now() + limit;
            for runner in runners {
                stuck.extend(runner.end(until).await);
            }
        }
        let paths = |runners: &[Runner]| runners.iter().map(|runner| runner.journal.clone()).collect::<Vec<_>>();
        let logs = self.workers.iter().chain(&self.clients).map(|runner| runner.log.clone()).collect::<Vec<_>>();
        let journals = judge::Journals {
            workers: paths(&self.workers),
            clients: paths(&self.clients),
            logs,
            outage_at: self.outage_at.unwrap_or(stopped_at),
            stopped_at,
        };
        let mut figures = judge::judge(&journals, url).await;
        figures.hung.extend(stuck);
        figures
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for runner in self.workers.iter_mut().chain(&mut self.clients) {
            let _ = runner.child.kill();
            let _ = runner.child.wait();
        }
        // What a failed test leaves is what its failure can be read from.
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

impl Runner {
    fn start(program: &str, role: &str, url: &str, stem: &Path) -> Self {
        let (journal, log) = (stem.with_extension("journal"), stem.with_extension("log"));
        fs::write(&journal, "").unwrap();
        let mut command = Command::new(program);
        command.args([role, url]).arg(&journal).stdin(Stdio::null());
        let child = command.stdout(fs::File::create(&log).unwrap()).stderr(Stdio::null()).spawn().unwrap();
        Self { child, journal, log }
    }

    /// Waits for its end; says what is wrong with it.
    async fn end(&mut self, until: Instant) -> Option<String> {
        let name = self.journal.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) if status.success() => return None,
                Some(status) => return Some(format!("{name} ended with {status}")),
                None if Instant::now() > until => {
                    let _ = self.child.kill();
                    return Some(format!("{name} did not end"));
                }
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }
}

fn holds(file: &Path, text: &str) -> bool {
    fs::read_to_string(file).unwrap().contains(text)
}

/// Sends a signal to a process of the load.
///
/// # Panics
/// When there is no program `kill`.
fn signal(process: u32, name: &str) {
    Command::new("kill").args([&format!("-{name}"), &process.to_string()]).stderr(Stdio::null()).status().unwrap();
}
