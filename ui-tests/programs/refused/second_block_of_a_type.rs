use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, slug = "first")]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

/// Later.
#[flow(input = String, slug = "second")]
impl Shop { //~ `Shop` has a block under `#[flow]` already; move the steps of both into one block
    #[step]
    async fn b(&self, input: String) -> Result<String, StepError> { Ok(input) }
}

fn main() {}
