// T10
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, start_delay = "1s")]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {}
