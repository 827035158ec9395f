// T24
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        input.
        Ok(input)
    }

    #[step]
    async fn charge(&self, reserve: u32) -> Result<u32, StepError> {
        Ok(reserve)
    }
}

fn main() {
    let _ = ShopStep::Charge;
}
