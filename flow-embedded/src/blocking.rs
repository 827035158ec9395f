//! Runs work that blocks its thread.

use crate::error::EmbeddedError;

/// Runs work that waits for files and processes on a thread for blocking work, so that no other task is held up.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, EmbeddedError> + Send + 'static,
) -> Result<T, EmbeddedError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(ended) => match ended.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(ended) => Err(EmbeddedError::file("finish work on", "/var/tmp")(std::io::Error::other(ended))),
        },
    }
}
