//! Flows that several tests, and the programs they start, have in common.

use std::{
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use flow_runtime::{prelude::*, with_step_queues};
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{SignalKind, signal};

/// What [`Orders`] is started with.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Order {
    /// The things ordered.
    pub items: Vec<String>,
    /// How long each parcel takes to pick.
    pub pick_ms: u64,
}

/// Reserve, pick each, ship.
pub struct Orders {
    /// Printed by the picking handler when it begins, for whoever watches the process.
    pub announce: bool,
}

#[flow(input = Order, max_attempts = 3, base_delay = "0s")]
impl Orders {
    /// Numbers the items.
    #[step]
    async fn reserve(&self, input: Order) -> Result<Vec<String>, StepError> {
        Ok(input.items.iter().enumerate().map(|(at, item)| format!("{at}:{item}")).collect())
    }

    /// Takes its time over one item.
    #[map(over = reserve)]
    async fn pick(&self, item: String, input: Order, ctx: &StepContext) -> Result<String, StepError> {
        if self.announce {
            println!("picking {item} attempt {}", ctx.attempt());
        }
        tokio::time::sleep(Duration::from_millis(input.pick_ms)).await;
        Ok(item.to_uppercase())
    }

    /// Joins the parcels.
    #[step]
    async fn ship(&self, pick: Vec<String>) -> Result<String, StepError> {
        Ok(pick.join(","))
    }
}

/// Doubles each number and adds them up, through as many crashes as it takes.
pub struct Survivor;

#[flow(input = Vec<u32>, max_attempts = 1000, base_delay = "0s")]
impl Survivor {
    /// Passes the numbers on.
    #[step]
    async fn spread(&self, input: Vec<u32>) -> Result<Vec<u32>, StepError> {
        Ok(input)
    }

    /// Doubles one, slowly enough to be killed meanwhile.
    #[map(over = spread)]
    async fn double(&self, item: u32) -> Result<u32, StepError> {
        tokio::time::sleep(Duration::from_millis(u64::from(item % 40))).await;
        Ok(2 * item)
    }

    /// Adds up.
    #[step]
    async fn sum(&self, double: Vec<u32>, input: Vec<u32>) -> Result<(u32, usize), StepError> {
        Ok((double.iter().sum(), input.len()))
    }
}

/// What the flows of a rollout are started with.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Parcel {
    /// What is in it.
    pub name: String,
    /// A folder; a file named like a step in it is an open gate.
    pub gates: String,
    /// The step whose handler waits for its gate.
    pub held: String,
}

impl Parcel {
    /// Waits for the gate of `step`, if this parcel is held there.
    pub async fn pass(&self, step: &str) {
        let gate = Path::new(&self.gates).join(step);
        while self.held == step && !gate.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// A flow whose steps have queues, and so processes, of their own.
pub struct Relay;

#[flow(input = Vec<u32>)]
impl Relay {
    /// Doubles one number, slowly enough for its process to be killed while it holds several.
    #[map(over = input)]
    async fn double(&self, item: u32) -> Result<u32, StepError> {
        println!("doubling {item}");
        tokio::time::sleep(Duration::from_millis(200)).await;
        Ok(2 * item)
    }

    /// Adds up.
    #[step]
    async fn add(&self, double: Vec<u32>) -> Result<u32, StepError> {
        println!("adding {}", double.len());
        Ok(double.iter().sum())
    }
}

with_step_queues!(pub RelayQueues for Relay);

/// One step that does nothing.
pub struct Tick;

#[flow(input = u32)]
impl Tick {
    /// Passes the number on.
    #[step]
    async fn only(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

/// What [`Watchful`] is started with.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Watch {
    /// What it prints.
    pub name: String,
    /// A file; once it is there, the handler ends.
    pub gate: String,
}

/// One step that ends when its gate is open, or when it is told that its attempt is over.
pub struct Watchful;

#[flow(input = Watch, base_delay = "0s")]
impl Watchful {
    /// Says when it begins and when it is told.
    #[step]
    async fn stand(&self, input: Watch, ctx: &StepContext) -> Result<String, StepError> {
        let Watch { name, gate } = input;
        println!("begins {name} attempt {}", ctx.attempt());
        while !Path::new(&gate).exists() {
            tokio::select! {
                () = ctx.cancelled() => {
                    println!("told {name} attempt {}", ctx.attempt());
                    return Ok("told".to_owned());
                }
                () = tokio::time::sleep(Duration::from_millis(20)) => {}
            }
        }
        Ok(format!("attempt {}", ctx.attempt()))
    }
}

/// Two steps; the first one of run 1 waits for its process to be told to end, and starts another run then.
pub struct Successor {
    /// Where it starts the other run.
    pub db: Db,
}

#[flow(input = u32)]
impl Successor {
    /// Ends only after the signal.
    #[step]
    async fn first(&self, input: u32) -> Result<u32, StepError> {
        if input == 1 {
            let mut told = signal(SignalKind::terminate()).map_err(|error| StepError::new(error.to_string()))?;
            println!("first {input}");
            told.recv().await;
            // The worker hears the same signal, and drains by now.
            tokio::time::sleep(Duration::from_millis(300)).await;
            let other = Client::new(&self.db).start::<Successor>(&2).await;
            println!("started {}", other.map_err(|error| StepError::new(error.to_string()))?.id());
        } else {
            println!("first {input}");
        }
        Ok(input)
    }

    /// Says that it begins.
    #[step]
    async fn second(&self, first: u32) -> Result<u32, StepError> {
        println!("second {first}");
        Ok(first)
    }
}

/// A map whose handlers never end in one process, and write each call to a file in the others.
pub struct Pieces {
    /// Where each call is written; without it no handler ends.
    pub calls: Option<PathBuf>,
}

#[flow(input = Vec<u32>, timeout = "600s", base_delay = "0s")]
impl Pieces {
    /// Passes the number on.
    #[map(over = input)]
    async fn piece(&self, item: u32, ctx: &StepContext) -> Result<u32, StepError> {
        let Some(calls) = &self.calls else { return std::future::pending().await };
        let line = format!("{} {item}\n", ctx.run_id());
        let written = OpenOptions::new().append(true).create(true).open(calls);
        written
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(|error| StepError::new(error.to_string()))?;
        Ok(item)
    }
}
