use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}
impl Shop {
    #[step] //~ `#[step]` marks a method in an `impl` block under `#[flow(…)]`; put `#[flow(input = …)]` on the block, and inside it write `#[step]`, which needs no import
    async fn b(&self, a: u32) -> Result<u32, StepError> { Ok(a) }
}

fn main() {}
