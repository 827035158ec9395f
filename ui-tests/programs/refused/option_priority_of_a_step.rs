use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(priority = 3)] //~ route_flow!
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
