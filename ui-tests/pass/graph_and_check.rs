// D22, D24
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

struct Shop;

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Order {
    gift: bool,
}

#[flow(input = Order)]
impl Shop {
    #[step(run_if = { "gfit": true })]
    async fn wrap(&self) -> Result<Order, StepError> {
        Ok(Order { gift: true })
    }

    #[step(run_unless = { "wrap": { "gift": 1 } })]
    async fn ship(&self, wrap: Option<Order>) -> Result<u32, StepError> {
        Ok(wrap.map_or(0, |order| order.gift.into()))
    }
}

// D24
#[test]
fn conditions_that_no_value_can_meet_are_found() {
    let errors = Shop::check().expect_err("two mistakes");
    let texts: Vec<String> = errors.mistakes().iter().map(ToString::to_string).collect();
    let expected = [
        "run_if of step `wrap`, at `gfit`: the type has no field `gfit`; did you mean `gift`?",
        "run_unless of step `ship`, at `wrap.gift`: 1 cannot occur here; the type is boolean",
    ];
    assert_eq!(texts, expected);
}

// D22
#[test]
fn the_graph_is_drawn() {
    assert!(Shop::graph().dot().contains("\"wrap\" -> \"ship\";"));
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
