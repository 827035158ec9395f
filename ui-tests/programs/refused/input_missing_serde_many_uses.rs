use flow_runtime::prelude::*;

struct Shop;

struct Order;
#[flow(input = Order)] //~ `Order` cannot travel as JSON
impl Shop {
    #[step]
    async fn a(&self, input: Order) -> Result<u32, StepError> { Ok(1) }
    #[step]
    async fn b(&self, input: Order, a: u32) -> Result<u32, StepError> { Ok(a) }
}

fn main() {}
