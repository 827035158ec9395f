use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { let x = ; Ok(input) } //~
    #[step]
    async fn c(&self, a: u32) -> Result<u32, StepError> { Ok(a) }
}

fn used(output: ShopOutput) -> u32 { let _ = (ShopStep::A, Shop::C); output.c }

fn main() {}
