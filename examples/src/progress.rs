//! Watching a run from a terminal.

use std::{
    convert::Infallible,
    io::{IsTerminal, stderr},
    time::Duration,
};

use flow_runtime::RunHandle;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing_subscriber::EnvFilter;

/// Pause between two looks at a run.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Shows warnings, and what the embedded server has to say; `RUST_LOG` asks for more.
pub fn show_log() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn,flow_embedded=info"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr).with_ansi(stderr().is_terminal());
    log.without_time().with_target(false).init();
}

/// Waits for `ended`, which is what a run ends with, and shows the run's steps and tasks meanwhile, where there is a
/// terminal.
pub async fn wait<F, T>(run: &RunHandle<F>, ended: impl Future<Output = T>) -> T {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len} tasks, {msg}") {
        bar.set_style(style);
    }
    let ended = tokio::select! {
        ended = ended => ended,
        never = show(run, &bar) => match never {},
    };
    bar.finish_and_clear();
    ended
}

/// Shows a run for ever. A look that fails is left out: whoever waits for the run learns what is wrong.
async fn show<F>(run: &RunHandle<F>, bar: &ProgressBar) -> Infallible {
    loop {
        if let Ok(progress) = run.status().await {
            bar.set_length(progress.tasks_known);
            bar.set_position(progress.tasks_done);
            bar.set_message(format!("{} of {} steps", progress.steps_done, progress.steps_total));
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}
