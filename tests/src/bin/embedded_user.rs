//! A program that uses an embedded server until its input ends. Tests run several of it, and kill them.
//!
//! Prints one line of description, one line with the URL, then waits.

use std::{
    io::{Read, Write},
    process::ExitCode,
};

use flow_runtime::embedded;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(std::env::args().nth(1).as_deref()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(mode: Option<&str>) -> anyhow::Result<()> {
    match mode {
        Some("kept") => {
            let server = embedded::open("flow").await?;
            use_until_input_ends(&server.describe(), server.url())
        }
        Some("tests") => {
            let server = embedded::open_tests("embedded_user", async |_| Ok::<_, std::io::Error>(())).await?;
            let database = server.database().await?;
            use_until_input_ends(&server.describe(), database.url())
        }
        Some("private") => {
            let server = embedded::start_private().await?;
            use_until_input_ends("private", &server.url("postgres"))
        }
        _ => anyhow::bail!("say how to use a server: kept, tests or private"),
    }
}

fn use_until_input_ends(description: &str, url: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{description}\n{url}")?;
    out.flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
