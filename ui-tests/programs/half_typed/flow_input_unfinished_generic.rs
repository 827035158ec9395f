use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<)] //~
impl Shop {
    #[step]
    async fn a(&self, input: Vec<u32>) -> Result<u32, StepError> { Ok(input[0]) }
}

fn main() {}
