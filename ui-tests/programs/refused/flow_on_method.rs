use flow_runtime::prelude::*;

struct Shop;

impl Shop {
    #[flow(input = u32)]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) } //~ `#[flow]` stands on an inherent `impl` block, whose methods are the handlers: `impl Checkout { … }`
}

fn main() {}
