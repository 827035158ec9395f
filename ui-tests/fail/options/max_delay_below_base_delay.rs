// D3
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, base_delay = "10s", max_delay = "5s")]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {}
