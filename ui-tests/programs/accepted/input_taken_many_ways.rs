use flow_runtime::prelude::*;

struct Shop;

mod types {
    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    pub struct Order {
        pub n: u32,
    }
    pub type Alias = Order;
}
use types::Order as Bestellung;
#[flow(input = types::Order)]
impl Shop {
    #[step]
    async fn a(&self, input: Bestellung) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(input.n)
    }
    #[step]
    async fn b(&self, a: u32, mut input: types::Alias) -> Result<u32, StepError> {
        std::future::ready(()).await;
        input.n += a;
        Ok(input.n)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
