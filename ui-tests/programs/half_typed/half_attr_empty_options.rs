use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(max_att)] //~
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
    #[step]
    async fn b(&self, a: u32) -> Result<u32, StepError> { Ok(a) }
}

fn main() {}
