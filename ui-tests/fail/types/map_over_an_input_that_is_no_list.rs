// T9
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[map(over = input)]
    async fn pick(&self, item: u32) -> Result<u32, StepError> {
        Ok(item)
    }
}

fn main() {}
