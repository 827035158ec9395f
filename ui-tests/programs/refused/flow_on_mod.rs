use flow_runtime::prelude::*;

#[flow(input = u32)]
mod shop { //~ `#[flow]` stands on an inherent `impl` block, whose methods are the handlers: `impl Checkout { … }`
    use super::*;
    #[step]
    async fn a(input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
