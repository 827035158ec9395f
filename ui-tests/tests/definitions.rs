//! What flows say to the database, as it is sent: snapshots of whole definitions.

use flow_runtime::{Routed, StepQueued, prelude::*, route_flow, with_step_queues};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Order {
    /// Whether to wrap it.
    gift: bool,
    lines: Vec<Line>,
}

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Line {
    sku: String,
    count: Option<u32>,
}

struct Shop;

/// Sells.
#[flow(input = Order, slug = "MyShop", max_attempts = 5, base_delay = "250ms")]
impl Shop {
    /// Waits for all, though it is declared first.
    #[step(after(wrap), when_exhausted = skip_cascade)]
    async fn ship(&self, pick: Option<Vec<Line>>) -> Result<u32, StepError> {
        Ok(pick.map_or(0, |pick| pick.len() as u32))
    }

    #[map(over = reserve, run_if = { "reserve": [{ "sku": "x" }] }, start_delay = "1m")]
    async fn pick(&self, item: Line, input: Order) -> Result<Line, StepError> {
        let _ = input;
        Ok(item)
    }

    #[step(timeout = "5m", max_attempts = 1)]
    async fn reserve(&self, input: Order) -> Result<Vec<Line>, StepError> {
        Ok(input.lines)
    }

    #[step(run_if = { "gift": true }, run_unless = { "lines": [] }, when_unmet = fail, schema = any)]
    async fn wrap(&self) -> Result<(), StepError> {
        Ok(())
    }
}

with_step_queues!(ShopQueues for Shop);
route_flow!(ShopRoutes for Shop { Ship => "carriers", Pick => "stock", Reserve => "stock", Wrap => "desk" });

#[test]
fn a_plain_flow() {
    insta::assert_json_snapshot!(Shop::definition());
}

#[test]
fn a_step_queued_flow_differs_in_its_mode() {
    insta::assert_json_snapshot!(<ShopQueues as StepQueued>::definition().shape);
}

#[test]
fn a_routed_flow_names_its_queues() {
    insta::assert_json_snapshot!(<ShopRoutes as Routed>::definition().shape);
}

// D22, D25
#[test]
fn the_same_flow_as_a_picture() {
    let graph = Shop::graph();
    insta::assert_snapshot!(format!("{}\n{}", graph.mermaid(), graph.dot()));
}
