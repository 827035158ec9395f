use flow_runtime::prelude::*;

struct Shop;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Order { n: u32 }
#[flow(input = Order)]
impl Shop {
    #[step]
    async fn reserve(&self, order: Order) -> Result<u32, StepError> { Ok(order.n) } //~ step `reserve` depends on `order`, but this flow has no step named `order`; the run's input is the parameter `input`; name it `input`
}

fn main() {}
