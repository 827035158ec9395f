//! CPU time from /proc. `None` everywhere where there is none.

use std::fs;

/// Linux shows 100 ticks a second on every common machine.
const MICROSECONDS_A_TICK: f64 = 10_000.0;

/// Microseconds of CPU of all processes of the server that `backend` belongs to, those that have ended included.
pub(crate) fn server_cpu_us(backend: i32) -> Option<f64> {
    let postmaster = field(&stat(&backend.to_string())?, 3)?;
    let mut ticks = 0.0;
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let Some(stat) = entry.file_name().to_str().and_then(stat) else { continue };
        if field(&stat, 3) == Some(postmaster) {
            ticks += field(&stat, 13)? + field(&stat, 14)?;
        }
    }
    // Children that have ended are summed up in the postmaster's own line.
    let postmaster = stat(&postmaster.to_string())?;
    ticks += field(&postmaster, 15)? + field(&postmaster, 16)?;
    Some(ticks * MICROSECONDS_A_TICK)
}

/// Microseconds of CPU of this process.
pub(crate) fn own_cpu_us() -> Option<f64> {
    let stat = stat("self")?;
    Some((field(&stat, 13)? + field(&stat, 14)?) * MICROSECONDS_A_TICK)
}

fn stat(process: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/{process}/stat")).ok()
}

/// Field `index` of a line of /proc/PID/stat, counted from 0; the name in field 1 may hold spaces.
fn field(stat: &str, index: usize) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(index - 2)?.parse().ok()
}
