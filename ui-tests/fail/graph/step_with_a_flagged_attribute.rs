// T13
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    #[cfg_attr(test, cfg(unix))]
    async fn charge(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {}
