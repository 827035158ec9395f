// T7
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input, run_unless = [])]
    async fn pick(&self, item: u32) -> Result<u32, StepError> {
        Ok(item)
    }

    #[step]
    async fn charge(&self, pick: Vec<u32>) -> Result<u32, StepError> {
        Ok(pick[0])
    }
}

fn main() {}
