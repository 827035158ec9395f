use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, retries = 5)] //~ max_attempts
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
