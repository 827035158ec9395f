use flow_runtime::prelude::*;

struct Shop;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Order {
    n: String,
}
#[flow(input = Order)]
impl Shop {
    #[step]
    async fn a(&self, input: Order) -> Result<usize, StepError> {
        std::future::ready(()).await;
        Ok(input.n.len())
    }
    #[step(blocking)]
    fn b(&self, input: Order, a: usize) -> Result<usize, StepError> {
        Ok(input.n.len() + a)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
