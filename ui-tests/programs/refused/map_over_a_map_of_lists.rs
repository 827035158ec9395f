use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input)]
    async fn a(&self, item: u32) -> Result<Vec<u32>, StepError> { Ok(vec![item]) }
    #[map(over = a)]
    async fn b(&self, item: u32) -> Result<u32, StepError> { Ok(item) } //~ so its `item` is `Vec<u32>`, not `u32`
}

fn main() {}
