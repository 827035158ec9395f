use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = )] //~
    async fn a(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
    #[step]
    async fn b(&self, a: Vec<u32>) -> Result<u32, StepError> { Ok(a[0]) }
}

fn main() {}
