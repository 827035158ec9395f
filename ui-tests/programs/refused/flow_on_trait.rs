use flow_runtime::prelude::*;

#[flow(input = u32)]
trait Flowy { //~ `#[flow]` stands on an inherent `impl` block, whose methods are the handlers: `impl Checkout { … }`
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError>;
}

fn main() {}
