// T5, T6
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(run_if = 1, when_unmet = skip_cascade, when_exhausted = skip)]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn charge(&self, reserve: u32) -> Result<u32, StepError> {
        Ok(reserve)
    }
}

fn main() {}
