// T13
use flow_runtime::prelude::*;

struct Shop;

impl Shop {
    #[map(over = input)]
    async fn pick(&self, item: u32) -> Result<u32, StepError> {
        Ok(item)
    }
}

fn main() {}
