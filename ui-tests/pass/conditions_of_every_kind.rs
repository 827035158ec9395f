// D16, D17
use flow_runtime::prelude::*;
use serde_json::{Value, json};

struct Shop;

#[flow(input = Value)]
impl Shop {
    #[step(run_if = { "a": [1, -2, 0.5, null, { "b": {}, }], "c": "x\"\\\n", "d": true })]
    async fn object(&self) -> Result<Value, StepError> {
        Ok(Value::Null)
    }

    #[step(run_if = [], run_unless = "text")]
    async fn list(&self) -> Result<u32, StepError> {
        Ok(1)
    }

    #[step(run_unless = null)]
    async fn null(&self) -> Result<u32, StepError> {
        Ok(1)
    }

    #[step(run_if = -1.25, run_unless = false)]
    async fn number(&self) -> Result<u32, StepError> {
        Ok(1)
    }

    #[step(run_if = { "object": { "any": 1 }, "list": 1 })]
    async fn dependent(&self, object: Option<Value>, list: Option<u32>) -> Result<u32, StepError> {
        let _ = object;
        Ok(list.unwrap_or(1))
    }
}

// D16, D17
#[test]
fn conditions_are_the_json_that_was_written() {
    let steps = Shop::definition().shape.steps;
    let expected = json!({ "a": [1, -2, 0.5, null, { "b": {} }], "c": "x\"\\\n", "d": true });
    assert_eq!(steps[0].run_if, Some(expected));
    assert_eq!((&steps[1].run_if, &steps[1].run_unless), (&Some(json!([])), &Some(json!("text"))));
    assert_eq!((&steps[2].run_if, &steps[2].run_unless), (&None, &Some(Value::Null)));
    assert_eq!((&steps[3].run_if, &steps[3].run_unless), (&Some(json!(-1.25)), &Some(json!(false))));
    assert_eq!(steps[4].run_if, Some(json!({ "object": { "any": 1 }, "list": 1 })));
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
