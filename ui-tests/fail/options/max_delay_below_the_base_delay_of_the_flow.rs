// D3
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, base_delay = "10s")]
impl Shop {
    #[step(max_delay = "5s")]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {}
