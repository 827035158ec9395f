// T9
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input)]
    async fn pick(&self, item: String) -> Result<u32, StepError> {
        Ok(item.len() as u32)
    }
}

fn main() {}
