// T5
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input)]
    async fn pick(&self, item: u32) -> Result<u32, StepError> {
        Ok(item)
    }

    #[step]
    async fn charge(&self, pick: Option<Vec<u32>>) -> Result<u32, StepError> {
        Ok(pick.map_or(1, |pick| pick[0]))
    }
}

fn main() {}
