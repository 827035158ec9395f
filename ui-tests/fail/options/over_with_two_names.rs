// T10
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<Vec<u32>, StepError> {
        Ok(vec![input])
    }

    #[map(over(reserve, input))]
    async fn pick(&self, item: u32) -> Result<u32, StepError> {
        Ok(item)
    }
}

fn main() {}
