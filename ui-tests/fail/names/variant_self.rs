// T23
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(slug = "me")]
    async fn self_(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {}
