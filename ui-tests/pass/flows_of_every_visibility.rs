// T27
pub(crate) mod inner {
    use flow_runtime::prelude::*;

    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    pub(crate) struct Order;

    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Receipt;

    pub(crate) struct Shop;

    #[flow(input = Order)]
    impl Shop {
        #[step]
        async fn reserve(&self, input: Order) -> Result<Receipt, StepError> {
            let Order = input;
            Ok(Receipt)
        }

        #[step]
        async fn ship(&self, reserve: Receipt) -> Result<Order, StepError> {
            let Receipt = reserve;
            Ok(Order)
        }
    }
}

// T27
#[test]
fn names_reach_as_far_as_their_module() {
    assert_eq!(inner::ShopStep::Reserve.as_str(), "reserve");
    assert_eq!(inner::Shop::SHIP.slug(), "ship");
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(inner::Shop);
}
