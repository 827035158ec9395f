//! Reads `postmaster.pid`, and finds out whether the server that it names is really there.

use std::{
    fs, io,
    path::Path,
    process::{Command, Stdio},
};

/// The entries of `postmaster.pid` that are used here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PidFile {
    pub(crate) pid: u32,
    started_at: String,
    pub(crate) port: u16,
    pub(crate) is_ready: bool,
}

/// What the process is whose number a pid file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Process {
    /// The server of this data folder.
    Server,
    /// Another program: the server is gone, and the system has given its number out again.
    Other,
    /// There is no such process.
    Gone,
}

impl PidFile {
    /// Reads the pid file of a data folder; `None` when there is no pid file, or its port is not written yet.
    pub(crate) fn read(data: &Path) -> Option<Self> {
        Self::parse(&fs::read_to_string(data.join("postmaster.pid")).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let line = |number: usize| text.lines().nth(number - 1).map(str::trim);
        Some(Self {
            pid: line(1)?.parse().ok()?,
            started_at: line(3)?.to_owned(),
            port: line(4)?.parse().ok()?,
            is_ready: line(8) == Some("ready"),
        })
    }

    /// Whether both pid files are of the same start of a server.
    pub(crate) fn is_same_start(&self, other: &Self) -> bool {
        (self.pid, &self.started_at, self.port) == (other.pid, &other.started_at, other.port)
    }

    /// Looks at the process. The server of the folder `data` is recognised by its command line, which names the folder.
    pub(crate) fn process(&self, data: &Path) -> Process {
        match command_line(self.pid) {
            None => Process::Gone,
            Some(line) if line.contains(&*data.to_string_lossy()) => Process::Server,
            Some(_) => Process::Other,
        }
    }
}

/// Sends a signal, named as in `INT`.
pub(crate) fn send_signal(pid: u32, signal: &str) -> io::Result<()> {
    let status = Command::new("sh")
        .args(["-c", r#"kill -s "$1" "$2""#, "sh", signal, &pid.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("process {pid} took no signal"))) }
}

#[cfg(target_os = "linux")]
fn command_line(pid: u32) -> Option<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    // A process that has ended and was not waited for has an empty command line.
    (!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned())
}

#[cfg(not(target_os = "linux"))]
fn command_line(pid: u32) -> Option<String> {
    let ps = Command::new("ps").args(["-ww", "-o", "args=", "-p", &pid.to_string()]).stdin(Stdio::null()).output();
    let line = String::from_utf8_lossy(&ps.ok()?.stdout).trim().to_owned();
    (!line.is_empty() && !line.ends_with("<defunct>")).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "4711\n/x/data\n1790000000\n40123\n/x\n127.0.0.1\n  123 456\nready   \n";

    #[test]
    fn a_pid_file_is_read_by_line() {
        let file = PidFile::parse(TEXT).unwrap();
        assert_eq!((file.pid, file.port, file.is_ready), (4711, 40123, true));
    }

    #[test]
    fn a_server_that_starts_is_not_ready() {
        assert!(!PidFile::parse(&TEXT.replace("ready   ", "starting")).unwrap().is_ready);
        assert_eq!(PidFile::parse("4711\n/x/data\n"), None);
    }

    #[test]
    fn a_process_of_another_program_is_no_server() {
        let mut file = PidFile::parse(TEXT).unwrap();
        file.pid = std::process::id();
        assert_eq!(file.process(Path::new("/no/such/data")), Process::Other);
        file.pid = u32::MAX;
        assert_eq!(file.process(Path::new("/no/such/data")), Process::Gone);
    }
}
