use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
#[flow(input = u32)] //~ this block has `#[flow]` twice; say all options in one
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
