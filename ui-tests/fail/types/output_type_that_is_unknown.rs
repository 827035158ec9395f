// T4
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<Receit, StepError> {
        Ok(Receit(input))
    }

    #[step]
    async fn charge(&self, reserve: Receit) -> Result<u32, StepError> {
        Ok(reserve.0)
    }
}

fn main() {}
