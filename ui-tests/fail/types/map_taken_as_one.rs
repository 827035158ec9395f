// T9
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<Vec<u32>, StepError> {
        Ok(vec![input])
    }

    #[map(over = reserve)]
    async fn pick(&self, item: u32) -> Result<u32, StepError> {
        Ok(item)
    }

    #[step]
    async fn charge(&self, pick: u32) -> Result<u32, StepError> {
        Ok(pick)
    }
}

fn main() {}
