//! What the code under test logs.

use std::{
    cell::RefCell,
    io::{self, Write},
    sync::{Arc, Mutex, Once},
};

thread_local! {
    /// Where this thread's lines go, if anywhere.
    static CURRENT: RefCell<Option<Log>> = const { RefCell::new(None) };
}

/// Keeps what is logged.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

/// Ends the keeping when dropped.
pub struct LogGuard(());

/// Hands each line to the log of the thread that writes it.
struct Lines;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        CURRENT.with_borrow(|log| {
            if let Some(Log(kept)) = log {
                kept.lock().unwrap().extend_from_slice(bytes);
            }
        });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Keeps the log of the running thread, which in a test with one thread is that of all its tasks.
    ///
    /// # Panics
    /// When somebody else has set a subscriber for the whole process.
    #[must_use]
    pub fn begin() -> (Self, LogGuard) {
        // One for the process: of subscribers that come and go with threads, a line that another thread met first may see none.
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| {
            let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(|| Lines).finish();
            tracing::subscriber::set_global_default(subscriber).unwrap();
        });
        let log = Self::default();
        CURRENT.set(Some(log.clone()));
        (log, LogGuard(()))
    }

    /// The lines that hold a text, oldest first.
    ///
    /// # Panics
    /// When what was logged is no text.
    pub fn lines_with(&self, text: &str) -> Vec<String> {
        let log = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        log.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}
