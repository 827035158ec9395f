// T13
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[step]
    #[map(over = input)]
    async fn reserve(&self, item: u32) -> Result<u32, StepError> {
        Ok(item)
    }
}

fn main() {}
