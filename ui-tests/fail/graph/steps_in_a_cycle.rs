// T2
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, c: u32) -> Result<u32, StepError> {
        Ok(c)
    }

    #[step]
    async fn b(&self, a: u32) -> Result<u32, StepError> {
        Ok(a)
    }

    #[step]
    async fn c(&self, b: u32) -> Result<u32, StepError> {
        Ok(b)
    }
}

fn main() {
    let _ = ShopStep::A.as_str();
}
