// T4
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn charge(&self, #[from(reserve)] found: String) -> Result<u32, StepError> {
        Ok(found.len() as u32)
    }
}

fn main() {}
