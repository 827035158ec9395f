// D20, D26
use std::time::Duration;

use flow_runtime::{
    FlowBuilder, StepBuilder,
    definition::{FlowDefinition, Mode},
    prelude::*,
};
use serde_json::json;

struct Shop;

/// Sells.
#[flow(input = Vec<u32>, max_attempts = 5, timeout = "30s")]
impl Shop {
    #[step(run_if = { "pick": [1] }, when_exhausted = skip, after(reserve))]
    async fn ship(&self, pick: Vec<u32>) -> Result<String, StepError> {
        Ok(pick.len().to_string())
    }

    /// One each.
    #[map(over = input, start_delay = "1m", priority = 2)]
    async fn pick(&self, item: u32) -> Result<u32, StepError> {
        Ok(item)
    }

    #[step]
    async fn reserve(&self) -> Result<(), StepError> {
        Ok(())
    }
}

// D20, D26
#[test]
fn macro_and_builder_give_equal_definitions() {
    let ship = StepBuilder::single("ship").needs(["pick"]).after(["reserve"]).run_if(json!({ "pick": [1] }));
    let pick = StepBuilder::map("pick", "input").start_delay(Duration::from_secs(60)).priority(2).note("One each.");
    let built = FlowBuilder::new("shop")
        .note("Sells.")
        .input::<Vec<u32>>()
        .max_attempts(5)
        .timeout(Duration::from_secs(30))
        .step(ship.when_unmet(Mode::Skip).when_exhausted(Mode::Skip).output::<String>())
        .step(pick.output::<u32>())
        .step(StepBuilder::single("reserve").output::<()>())
        .build()
        .expect("no mistakes");
    let text = serde_json::to_string(&built).expect("writes");
    assert_eq!(serde_json::to_string(&Shop::definition()).expect("writes"), text);
    assert_eq!(serde_json::from_str::<FlowDefinition>(&text).expect("reads back"), built);
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
