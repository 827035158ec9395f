//! Programs in processes of their own: what they print, and how they end.

use std::{
    io::{BufRead, BufReader, Lines, Read},
    process::{Child, ChildStdout, Command, Stdio},
};

use super::eventually;

/// A process; killed when dropped.
pub struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts a program.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(program: &str, args: &[&str]) -> Self {
        Self::start_with(program, args, "")
    }

    /// Starts a program that meets a fault on purpose; see `FLOW_FAULT` in docs/testing.md.
    ///
    /// # Panics
    /// As [`Process::start`].
    pub fn start_with(program: &str, args: &[&str], fault: &str) -> Self {
        let mut command = Command::new(program);
        if !fault.is_empty() {
            command.env("FLOW_FAULT", fault);
        }
        let mut child = command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next line it prints.
    ///
    /// # Panics
    /// When it ends instead, with what it wrote of its error.
    pub fn line(&mut self) -> String {
        match self.lines.next() {
            Some(line) => line.unwrap(),
            None => panic!("the process ended: {}", self.error()),
        }
    }

    /// Reads lines up to one that begins with `start`.
    ///
    /// # Panics
    /// As [`Process::line`].
    pub fn line_with(&mut self, start: &str) -> String {
        loop {
            let line = self.line();
            if line.starts_with(start) {
                return line;
            }
        }
    }

    /// Every further line, up to its end.
    ///
    /// # Panics
    /// When what it prints is no text.
    pub fn rest(&mut self) -> Vec<String> {
        self.lines.by_ref().map(Result::unwrap).collect()
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name.
    ///
    /// # Panics
    /// When there is nobody to take it.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits for its end: whether it succeeded, and what it wrote to its standard error.
    ///
    /// # Panics
    /// When it does not end.
    pub async fn ended(&mut self) -> (bool, String) {
        let child = &mut self.child;
        let mut status = None;
        eventually("the process ends", async || {
            status = child.try_wait().unwrap();
            status.is_some()
        })
        .await;
        (status.is_some_and(|status| status.success()), self.error())
    }

    fn error(&mut self) -> String {
        let mut error = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            // What cannot be read is no reason to hide what could.
            let _ = stderr.read_to_string(&mut error);
        }
        error
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
