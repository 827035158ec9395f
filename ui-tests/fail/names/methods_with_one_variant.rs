// T23
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn step_2(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn step2(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {}
