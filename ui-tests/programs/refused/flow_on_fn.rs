use flow_runtime::prelude::*;

#[flow(input = u32)]
async fn shop(input: u32) -> Result<u32, StepError> { Ok(input) } //~ `#[flow]` stands on an inherent `impl` block, whose methods are the handlers: `impl Checkout { … }`

fn main() {}
