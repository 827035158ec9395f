// T23
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(variant = SHIP)]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn ship(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {}
