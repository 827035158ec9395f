// T28
use flow_runtime::prelude::*;

// T28, T31
#[test]
fn a_flow_works_in_a_function_body() {
    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Order;

    struct Shop;

    #[flow(input = Order)]
    impl Shop {
        #[step]
        async fn reserve(&self, input: Order) -> Result<Order, StepError> {
            Ok(input)
        }
    }

    flow_runtime::with_step_queues!(ShopQueues for Shop);

    assert_eq!((Shop::SLUG, ShopStep::Reserve.as_str()), ("shop", "reserve"));
    let output: ShopOutput = serde_json::from_str(r#"{"reserve": null}"#).expect("reads");
    let Order = output.reserve;
    crate::run::run_handlers(Shop);
}
