// T10
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<Vec<u32>, StepError> {
        Ok(vec![input])
    }

    #[step(over = reserve)]
    async fn pick(&self) -> Result<u32, StepError> {
        Ok(1)
    }
}

fn main() {}
