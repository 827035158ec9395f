use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<Vec<u32>>)]
impl Shop {
    #[map(over = input)]
    async fn row(&self, item: u32) -> Result<u32, StepError> { Ok(item) } //~ this map runs over a list of `Vec<u32>`, so its `item` is `Vec<u32>`, not `u32`
}

fn main() {}
