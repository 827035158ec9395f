use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[step]
    #[map(over = input)] //~ is marked twice
    async fn a(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
}

fn main() {}
