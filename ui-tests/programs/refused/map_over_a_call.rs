use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input())] //~ over = reserve
    async fn b(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
}

fn main() {}
