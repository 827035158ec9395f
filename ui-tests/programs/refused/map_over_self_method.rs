use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[step]
    async fn reserve(&self, input: Vec<u32>) -> Result<Vec<u32>, StepError> { Ok(input) }
    #[map(over = Self::reserve)] //~ `over` takes the name of a step alone; write `over = reserve`
    async fn pick(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
}

fn main() {}
