use flow_runtime::prelude::*;

struct Shop;

#[flow()] //~
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
