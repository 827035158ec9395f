// T21
#![allow(non_camel_case_types, reason = "the names are there to be in the way")]

use flow_runtime::prelude::*;

struct Shop;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct order {
    mark: char,
}

#[flow(input = order)]
impl Shop {
    #[step]
    async fn char(&self, input: order) -> Result<char, StepError> {
        Ok(input.mark)
    }

    #[step]
    async fn order(&self, char: char) -> Result<order, StepError> {
        Ok(order { mark: char })
    }

    #[step]
    async fn output(&self, order: order, char: char, input: order) -> Result<bool, StepError> {
        Ok(order.mark == char && input.mark == char)
    }
}

// T21
#[test]
fn a_flow_compiles_among_them() {
    assert_eq!(ShopStep::Order.as_str(), "order");
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
