// T4
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: Ordr) -> Result<u32, StepError> {
        let _ = input;
        Ok(1)
    }

    #[step]
    async fn charge(&self, reserve: u32) -> Result<u32, StepError> {
        Ok(reserve)
    }
}

fn main() {}
