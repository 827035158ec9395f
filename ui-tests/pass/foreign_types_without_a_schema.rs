// T12
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

struct Shop;

#[derive(Serialize, Deserialize)]
struct Foreign(u32);

#[flow(input = Foreign, input_schema = any)]
impl Shop {
    #[step(schema = any)]
    async fn reserve(&self, input: Foreign) -> Result<Foreign, StepError> {
        Ok(Foreign(input.0))
    }
}

// T12
#[test]
fn anything_is_allowed() {
    let contract = Shop::definition().contract;
    assert_eq!((contract.input.schema, &contract.outputs[0].schema), (true.into(), &true.into()));
    let output: ShopOutput = serde_json::from_str(r#"{"reserve": 1}"#).expect("reads");
    assert_eq!((format!("{output:?}"), output.reserve.0), ("ShopOutput { reserve: .. }".to_owned(), 1));
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
