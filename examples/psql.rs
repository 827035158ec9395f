//! Opens a SQL shell on the database that an example keeps between runs.
//!
//! `cargo run --example psql` opens that of `lockfile_audit`; another name is an argument: `cargo run --example psql -- wfformat`.

use std::process::Command;

use flow_runtime::embedded;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "lockfile_audit".to_owned());
    let server = embedded::open(&name).await?;
    flow_runtime::Db::new(server.url())?.migrate().await?;
    println!("flow.runs, flow.steps, flow.tasks, flow.queues and flow.workers are views; \\q leaves");
    let shell = std::env::var_os("PSQL").unwrap_or_else(|| "psql".into());
    let status = Command::new(&shell).arg(server.url()).status().map_err(|error| {
        anyhow::anyhow!(
            "cannot run {}: {error}; install PostgreSQL's client programs, or open {} with a client of yours while this \
             program runs",
            shell.to_string_lossy(),
            server.url()
        )
    })?;
    anyhow::ensure!(status.success(), "psql ended with {status}");
    Ok(())
}
