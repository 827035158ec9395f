// T4
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input)]
    async fn pick(&self, item: u32, input: u32) -> Result<u32, StepError> {
        Ok(item + input)
    }
}

fn main() {}
