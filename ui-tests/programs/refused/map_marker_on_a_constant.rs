use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input)]
    const LIMIT: u32 = 3; //~ `#[map]` marks a method, and this is none; mark the handler instead
    #[map(over = input)]
    async fn pick(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
}

fn main() {}
