//! A local file in which a process writes down what it did, a line an event, so that a lost database cannot hide anything.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// The file, open for writing. Each line goes to the system at once: a killed process loses none.
pub struct Journal(File);

/// One line: when, what, and of what.
pub struct Event {
    /// Microseconds since 1970, by the clock that all processes of the machine share.
    pub at: u64,
    /// What happened.
    pub kind: String,
    /// What it happened to.
    pub fields: Vec<String>,
}

impl Journal {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(File::options().create(true).append(true).open(path)?))
    }

    /// Writes one event down.
    ///
    /// # Panics
    /// When the file cannot be written: what happens from then on would not be known.
    pub fn write(&self, kind: &str, fields: &str) {
        let line = format!("{}\t{kind}\t{}\n", now(), fields.replace('\n', " "));
        (&self.0).write_all(line.as_bytes()).unwrap();
    }

    /// Every event in the file, but for one that is just being written.
    ///
    /// # Panics
    /// When the file cannot be read.
    pub fn read(path: &Path) -> Vec<Event> {
        let text = fs::read_to_string(path).unwrap();
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        whole.lines().map(Event::of).collect()
    }
}

impl Event {
    fn of(line: &str) -> Self {
        let mut parts = line.split('\t').map(str::to_owned);
        let at = parts.next().unwrap().parse().unwrap();
        Self { at, kind: parts.next().unwrap(), fields: parts.collect() }
    }
}

/// Microseconds since 1970.
///
/// # Panics
/// When the machine's clock is before that.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64
}
