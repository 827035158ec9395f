use flow_runtime::prelude::*;

struct Shop;

#[flow(u32)] //~ `#[flow]` takes its options by name; write `input = u32`
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<bool, StepError> { Ok(input > 1) }
}

fn main() {}
