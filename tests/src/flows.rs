//! Flows that several tests, and the programs they start, have in common.

use std::{path::Path, time::Duration};

use flow_runtime::{prelude::*, with_step_queues};
use serde::{Deserialize, Serialize};

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
