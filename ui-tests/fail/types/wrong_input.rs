// T4
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: String) -> Result<u32, StepError> {
        Ok(input.len() as u32)
    }
}

fn main() {}
