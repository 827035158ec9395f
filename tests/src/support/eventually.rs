//! Waiting for what must come true.

use std::time::{Duration, Instant};

/// Longest wait of [`eventually`]: far above what anything takes, so that reaching it means that it never comes.
const LIMIT: Duration = Duration::from_secs(30);

/// Waits until `check` holds.
///
/// # Panics
/// When it does not hold within 30 s; `what` then says what was waited for.
pub async fn eventually(what: &str, mut check: impl AsyncFnMut() -> bool) {
    let began_at = Instant::now();
    while !check().await {
        assert!(began_at.elapsed() < LIMIT, "waited {LIMIT:?} in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
