//! Runs all cases of all peers in rounds, each measurement in a process of its own.

use std::{process::Stdio, time::Duration};

use anyhow::Context;
use tokio::process::Command;

use crate::{
    RunArgs,
    bench::Case,
    peer_name::PeerName,
    report::{Outcome, Report, median_of, settings, table},
    server::Server,
};

/// How long a process may take beside its case: to open, to warm up and to report.
const SLACK: Duration = Duration::from_secs(90);

const DATABASE: &str = "bench_peers_one";

/// The whole measurement; the tables go to standard output, the single reports to standard error.
pub(crate) async fn run(args: RunArgs) -> anyhow::Result<()> {
    let cases = Case::ALL.into_iter().filter(|case| args.case.is_empty() || args.case.contains(case));
    let is_asked = |peer: &PeerName| args.peer.is_empty() || *peer == PeerName::Flow || args.peer.contains(peer);
    let peers: Vec<PeerName> = PeerName::ALL.into_iter().filter(is_asked).collect();
    let mut results: Vec<(Case, Vec<(PeerName, Outcome)>)> =
        cases.map(|case| (case, peers.iter().map(|peer| (*peer, first_outcome(*peer, case))).collect())).collect();
    let mut server = Server::open().await?;
    let rounds = if args.quick { 1 } else { args.rounds };
    let mut yardsticks = Vec::new();
    for round in 1..=rounds {
        yardsticks.push(server.yardstick().await?);
        eprintln!("round {round} of {rounds}: yardstick {:.0} transactions/s", yardsticks[yardsticks.len() - 1]);
        for (case, rows) in &mut results {
            for (peer, outcome) in rows {
                let Outcome::Measured(reports) = outcome else { continue };
                // What did not end once would only hold up the others.
                if reports.iter().any(|report| report.note.is_some()) {
                    continue;
                }
                match measure_one(&mut server, *peer, *case, &args).await {
                    Ok(report) => reports.push(report),
                    Err(error) => *outcome = Outcome::Failed(format!("{error:#}").replace(['\n', '|'], " ")),
                }
            }
        }
    }
    println!("# Beside other engines\n\nWritten by `{}`.\n", std::env::args().collect::<Vec<_>>().join(" "));
    println!("{}; {rounds} rounds, medians.", server.describe().await?);
    println!("Yardstick, transactions/s each round: {}.", join(&yardsticks));
    println!("Median {:.0}.\n", median_of(yardsticks).unwrap_or_default());
    for (case, rows) in &results {
        println!("{}", table(*case, rows));
    }
    let measured = results.iter().flat_map(|(_, rows)| rows).filter_map(|(_, outcome)| match outcome {
        Outcome::Measured(reports) => reports.first(),
        _ => None,
    });
    println!("{}", settings(measured));
    Ok(())
}

fn first_outcome(peer: PeerName, case: Case) -> Outcome {
    if peer.has(case) { Outcome::Measured(Vec::new()) } else { Outcome::HasNone }
}

async fn measure_one(server: &mut Server, peer: PeerName, case: Case, args: &RunArgs) -> anyhow::Result<Report> {
    let url = server.create(DATABASE).await?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["one", "--url", &url, "--peer", peer.name(), "--case", case.name()]);
    command.args(["--size", &case.size(args.quick).to_string(), "--limit-s", &args.limit_s.to_string()]);
    // A failure is one line of the table.
    command.env("RUST_BACKTRACE", "0");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn()?;
    let limit = Duration::from_secs(args.limit_s) + SLACK;
    let output = tokio::time::timeout(limit, child.wait_with_output()).await;
    server.drop(DATABASE).await?;
    let output = output.with_context(|| format!("did not report in {} s", limit.as_secs()))??;
    // A whole report counts, however the process ended after it.
    let said = String::from_utf8(output.stdout)?;
    let Some(report) = said.lines().last().and_then(|line| serde_json::from_str::<Report>(line).ok()) else {
        let errors = String::from_utf8_lossy(&output.stderr);
        eprintln!("{} {}, {}: {errors}", peer.name(), case.name(), output.status);
        anyhow::bail!("{}, {}", output.status, errors.lines().next().unwrap_or("it said nothing"));
    };
    eprintln!("{}", said.trim_end());
    Ok(report)
}

fn join(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:.0}")).collect::<Vec<_>>().join(", ")
}
