//! Several processes on one database, and what happens when one of them dies.

use std::{
    io::{BufRead, BufReader, Lines, Read},
    process::{Child, ChildStdout, Command, Stdio},
};

use flow_runtime::prelude::*;
use flow_tests::{
    flows::{Order, Orders},
    support::{TestDb, eventually},
};

/// A process of the program `flow_process`; killed when dropped.
pub(crate) struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_flow_process"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next line it prints.
    fn line(&mut self) -> String {
        match self.lines.next() {
            Some(line) => line.unwrap(),
            None => {
                let mut error = String::new();
                let _ = self.child.stderr.take().unwrap().read_to_string(&mut error);
                panic!("the process ended: {error}")
            }
        }
    }

    /// Reads lines up to one that begins with `start`.
    pub(crate) fn line_with(&mut self, start: &str) -> String {
        loop {
            let line = self.line();
            if line.starts_with(start) {
                return line;
            }
        }
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name.
    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a worker has deployed the flow.
async fn deployed(db: &TestDb) {
    eventually("the flow is deployed", async || {
        let count = "select count(*) from flow.worker w";
        sqlx::query_scalar::<_, i64>(count).fetch_one(db.pool()).await.unwrap() > 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_process_serves_a_client_process() {
    let db = TestDb::new().await;
    let mut worker = Process::start(&["worker", db.url(), "30000"]);
    worker.line_with("starting");
    deployed(&db).await;
    let mut client = Process::start(&["client", db.url(), "1", "tea", "cup"]);
    client.line();
    assert_eq!(client.line(), "0:TEA,1:CUP");
    worker.signal("TERM");
    assert!(worker.child.wait().unwrap().success());
    let stopped = "select count(*) from flow.worker w where w.stopped_at is not null";
    assert_eq!(sqlx::query_scalar::<_, i64>(stopped).fetch_one(db.pool()).await.unwrap(), 1);
}

// L4
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_workers_task_is_finished_by_another() {
    let db = TestDb::new().await;
    let mut first = Process::start(&["worker", db.url(), "1000"]);
    deployed(&db).await;
    let client = Client::connect(db.url()).await.unwrap();
    let order = Order { items: vec!["tea".into()], pick_ms: 3_000 };
    let run = client.start::<Orders>(&order).await.unwrap();
    assert_eq!(first.line_with("picking"), "picking 0:tea attempt 1");
    first.signal("KILL");
    first.child.wait().unwrap();

    let mut second = Process::start(&["worker", db.url(), "1000"]);
    assert_eq!(second.line_with("picking"), "picking 0:tea attempt 2");
    assert_eq!(run.wait().await.unwrap().ship, "0:TEA");
    let history = "select concat_ws(' ', e.attempt, e.cause) from flow.attempt_error e";
    assert_eq!(sqlx::query_scalar::<_, String>(history).fetch_all(db.pool()).await.unwrap(), ["1 lease_expired"]);
}

// L5
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_kills_every_worker_fails_after_its_attempts() {
    let db = TestDb::new().await;
    let mut worker = Process::start(&["worker", db.url(), "1000"]);
    deployed(&db).await;
    let client = Client::connect(db.url()).await.unwrap();
    let run = client.start::<Orders>(&Order { items: vec!["bomb".into()], pick_ms: 60_000 }).await.unwrap();
    for attempt in 1..=3 {
        assert_eq!(worker.line_with("picking"), format!("picking 0:bomb attempt {attempt}"));
        worker.signal("KILL");
        worker.child.wait().unwrap();
        worker = Process::start(&["worker", db.url(), "1000"]);
    }
    let error = run.wait().await.err().unwrap().to_string();
    assert!(error.contains("`pick`") && error.contains("lease"), "{error}");
    let history = "select concat_ws(' ', e.attempt, e.cause) from flow.attempt_error e order by e.attempt";
    let history: Vec<String> = sqlx::query_scalar(history).fetch_all(db.pool()).await.unwrap();
    assert_eq!(history, ["1 lease_expired", "2 lease_expired", "3 lease_expired"]);
}

// L6
#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_workers_result_is_refused() {
    let db = TestDb::new().await;
    let mut frozen = Process::start(&["worker", db.url(), "1000"]);
    deployed(&db).await;
    let client = Client::connect(db.url()).await.unwrap();
    let run = client.start::<Orders>(&Order { items: vec!["tea".into()], pick_ms: 2_000 }).await.unwrap();
    frozen.line_with("picking");
    frozen.signal("STOP");
    let mut other = Process::start(&["worker", db.url(), "1000"]);
    assert_eq!(other.line_with("picking"), "picking 0:tea attempt 2");
    frozen.signal("CONT");
    assert_eq!(run.wait().await.unwrap().ship, "0:TEA");
    let attempts =
        "select t.attempt from flow.task t join flow.step s on s.step_index = t.step_index where s.slug = 'pick'";
    assert_eq!(sqlx::query_scalar::<_, i32>(attempts).fetch_one(db.pool()).await.unwrap(), 2);
    frozen.signal("TERM");
    assert!(frozen.child.wait().unwrap().success(), "the worker that had lost its task goes on and stops in order");
}
