use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
    #[step]
    async fn b(&self, a: ) -> Result<u32, StepError> { Ok(1) } //~
    #[step]
    async fn c(&self, b: u32) -> Result<u32, StepError> { Ok(b) }
}

fn used(output: ShopOutput) -> u32 { let _ = (ShopStep::B, Shop::C); output.c }

fn main() {}
