//! Processes that use an embedded server, and folders for their clusters.

use std::{
    fs,
    io::{BufRead, BufReader, Lines, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use sqlx::{Connection, PgConnection};

/// A folder for one test, outside of a closed home. It is removed when this is dropped.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(format!("/var/tmp/flow-it-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The place itself, which exists.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The folder of a cluster in this place, which is left to be made.
    pub(crate) fn cluster(&self) -> PathBuf {
        self.0.join("cluster")
    }

    /// A user of this place's kept cluster, to be started.
    pub(crate) fn user(&self) -> Command {
        let mut command = user("kept");
        command.env("FLOW_PG_DATA", self.cluster());
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A user of a server, to be started, without the settings of whoever runs the tests.
pub(crate) fn user(mode: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_embedded_user"));
    command.arg(mode).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in ["DATABASE_URL", "FLOW_DATABASE_URL", "FLOW_TEST_DATABASE_URL", "FLOW_PG_DATA"] {
        command.env_remove(name);
    }
    command
}

/// A process that has its server.
pub(crate) struct User {
    pub(crate) process: Child,
    pub(crate) description: String,
    pub(crate) url: String,
    _lines: Lines<BufReader<ChildStdout>>,
}

impl User {
    /// Starts it and waits until it has its server.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        match (lines.next(), lines.next()) {
            (Some(Ok(description)), Some(Ok(url))) => Self { process, description, url, _lines: lines },
            _ => panic!("the user got no server: {}", read(process.stderr.take())),
        }
    }

    /// Kills it as `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Lets it end by itself.
    pub(crate) fn leave(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }

    pub(crate) fn port(&self) -> &str {
        self.url.split(['@', '/']).find_map(|part| part.strip_prefix("127.0.0.1:")).unwrap()
    }

    /// Asks the server for one number.
    pub(crate) async fn ask(&self, query: &'static str) -> i64 {
        let mut connection = PgConnection::connect(&self.url).await.unwrap();
        sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap()
    }
}

/// What a user says who gets no server.
pub(crate) fn refusal(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success(), "it got a server: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

/// The process id of a cluster's server, as long as it runs.
pub(crate) fn server_pid(cluster: &Path) -> Option<u32> {
    let text = fs::read_to_string(cluster.join("data/postmaster.pid")).ok()?;
    let pid = text.lines().next()?.parse().ok()?;
    signal(pid, "0").then_some(pid)
}

/// Sends a signal, and tells whether the process could get it.
pub(crate) fn signal(pid: u32, name: &str) -> bool {
    let kill = format!("kill -{name} {pid} 2> /dev/null");
    Command::new("sh").args(["-c", &kill]).status().unwrap().success()
}

fn read(stream: Option<impl Read>) -> String {
    let mut text = String::new();
    stream.unwrap().read_to_string(&mut text).unwrap();
    text
}
