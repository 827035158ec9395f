use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
    #[step]
    async fn b(&self, a: u32, x) -> Result<u32, StepError> { Ok(a) } //~
}
fn usage(o: ShopOutput) -> u32 { let _ = (ShopStep::B, Shop::B); o.b }

fn main() {}
