//! `flow` and its peers side by side on one Postgres: the same cases, interleaved, fsync on.
//!
//! `cargo run --release --manifest-path bench/peers/Cargo.toml -- --help`; what is equal and what is not: README.md.

mod bench;
mod driver;
mod measure;
mod meter;
mod peer_name;
mod peers;
mod report;
mod server;

use clap::{Args, Parser, Subcommand};

use bench::Case;
use peer_name::PeerName;

/// Measures flow and its peers on one Postgres.
#[derive(Parser)]
struct Command {
    #[command(subcommand)]
    part: Option<Part>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Subcommand)]
enum Part {
    /// One case of one peer in this process, on an empty database; prints one JSON line.
    One(OneArgs),
}

/// Which cases and peers, and how often.
#[derive(Args)]
struct RunArgs {
    /// How often each case of each peer is run.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Only these cases.
    #[arg(long, value_enum, value_delimiter = ',')]
    case: Vec<Case>,
    /// Only these peers, beside flow.
    #[arg(long, value_enum, value_delimiter = ',')]
    peer: Vec<PeerName>,
    /// Sizes of about a twentieth, and one round: does everything run?
    #[arg(long)]
    quick: bool,
    /// Longest time of one case, in seconds.
    #[arg(long, default_value_t = 120)]
    limit_s: u64,
}

/// One measurement.
#[derive(Args)]
struct OneArgs {
    #[arg(long)]
    url: String,
    #[arg(long, value_enum)]
    peer: PeerName,
    #[arg(long, value_enum)]
    case: Case,
    #[arg(long)]
    size: u32,
    /// Longest time, in seconds.
    #[arg(long, default_value_t = 120)]
    limit_s: u64,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let command = Command::parse();
    match command.part {
        None => driver::run(command.run).await,
        Some(Part::One(one)) => {
            let report = peers::measure(&one).await?;
            println!("{}", serde_json::to_string(&report)?);
            // Whatever the peer still has running ends with the process.
            std::process::exit(0);
        }
    }
}
