use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
    #[step(after())] //~
    async fn c(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn used(output: ShopOutput) -> u32 { let _ = (ShopStep::A, Shop::C); output.c }

fn main() {}
