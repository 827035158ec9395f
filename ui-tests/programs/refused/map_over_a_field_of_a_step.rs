use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<(Vec<u32>, u32), StepError> { Ok((vec![], input)) }
    #[map(over = a.0)] //~ returns `a.0`
    async fn b(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
}

fn main() {}
