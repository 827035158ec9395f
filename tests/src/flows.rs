//! Flows that several tests, and the programs they start, have in common.

use std::time::Duration;

use flow_runtime::prelude::*;
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
