// T12
use flow_runtime::prelude::*;

struct Shop;

#[derive(serde::Serialize, serde::Deserialize)]
struct Order;

#[flow(input = Order)]
impl Shop {
    #[step]
    async fn reserve(&self, input: Order) -> Result<u32, StepError> {
        let _ = input;
        Ok(1)
    }
}

fn main() {}
