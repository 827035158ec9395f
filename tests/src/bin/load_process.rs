//! One process of the load under which outages are tried; what it does is in its journal, what it logs on its standard output.
//!
//! `load_process worker URL JOURNAL` works on `Journaled` until SIGTERM; `load_process client URL JOURNAL` starts runs and waits for
//! each, and from SIGTERM on starts no more and ends with its last wait. `load_process echo URL` works on `Echo`, and
//! `load_process reader URL RUN` waits for one of its runs.

use std::{
    path::Path,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use flow_runtime::{error::RunError, prelude::*};
use flow_tests::outage::{Echo, Journal, Journaled};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
    task::JoinSet,
};

/// How many starts of a client are under way at once at most.
const STARTERS: usize = 4;

/// Between two starts of a starter: a light load, so that what is late is late for another reason.
const PAUSE: Duration = Duration::from_millis(200);

/// A short one, so that work of a lost worker or server goes on soon.
const LEASE: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_ansi(false).init();
    match run(std::env::args().skip(1).collect()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("ended by an error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Vec<String>) -> anyhow::Result<()> {
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["worker", url, journal] => {
            let flow = Journaled { journal: Journal::open(Path::new(journal))? };
            let worker = Worker::builder(&Db::new(url)?).flow(flow).lease(LEASE).concurrency(20);
            Ok(worker.build()?.run().await?)
        }
        ["client", url, journal] => {
            let starting = Arc::new(Starting {
                client: Client::new(&Db::new(url)?),
                journal: Arc::new(Journal::open(Path::new(journal))?),
                number: AtomicU32::new(0),
            });
            starting.run().await
        }
        ["echo", url] => Ok(Worker::builder(&Db::new(url)?).flow(Echo).lease(LEASE).build()?.run().await?),
        ["reader", url, run] => {
            Client::new(&Db::new(url)?).run::<Echo>(run.parse()?).await?.wait().await?;
            Ok(())
        }
        _ => anyhow::bail!("say what to be: worker or client URL JOURNAL, echo URL, or reader URL RUN"),
    }
}

/// What the starters of a client share.
struct Starting {
    client: Client,
    journal: Arc<Journal>,
    number: AtomicU32,
}

impl Starting {
    async fn run(self: Arc<Self>) -> anyhow::Result<()> {
        let (stop, stopped) = watch::channel(());
        let mut starters: JoinSet<JoinSet<()>> =
            (0..STARTERS).map(|_| Arc::clone(&self).start_runs(stopped.clone())).collect();
        signal(SignalKind::terminate())?.recv().await;
        drop(stop);
        while let Some(waits) = starters.join_next().await {
            waits?.join_all().await;
        }
        Ok(())
    }

    /// Starts one run after the other until told to stop. Returns the waits.
    async fn start_runs(self: Arc<Self>, mut stopped: watch::Receiver<()>) -> JoinSet<()> {
        let mut waits = JoinSet::new();
        while stopped.has_changed().is_ok() {
            let number = self.number.fetch_add(1, Ordering::Relaxed);
            self.journal.write("ask", &number.to_string());
            match self.client.start::<Journaled>(&vec![number, number + 1, number + 2]).await {
                Ok(run) => {
                    self.journal.write("start", &format!("{number}\t{}", run.id()));
                    waits.spawn(wait(Arc::clone(&self.journal), number, run));
                }
                Err(error) => self.journal.write("refuse", &format!("{number}\t{error:?}")),
            }
            let _ = tokio::time::timeout(PAUSE, stopped.changed()).await;
        }
        waits
    }
}

async fn wait(journal: Arc<Journal>, number: u32, run: RunHandle<Journaled>) {
    let (kind, text) = match run.wait().await {
        Ok(output) => ("ok", output.sum.to_string()),
        Err(RunError::NotFound(_)) => ("not_found", String::new()),
        Err(error) => ("error", format!("{error:?}").replace('\t', " ")),
    };
    journal.write("answer", &format!("{number}\t{}\t{kind}\t{text}", run.id()));
}
