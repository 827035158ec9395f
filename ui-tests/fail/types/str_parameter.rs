// T26
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<String, StepError> {
        Ok(input.to_string())
    }

    #[step]
    async fn charge(&self, reserve: &str) -> Result<u32, StepError> {
        Ok(reserve.len() as u32)
    }
}

fn main() {}
