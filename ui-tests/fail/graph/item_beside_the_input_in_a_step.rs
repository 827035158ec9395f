// T10
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[step]
    async fn pick(&self, item: u32, input: Vec<u32>) -> Result<u32, StepError> {
        Ok(item + input[0])
    }
}

fn main() {}
