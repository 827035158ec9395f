use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(retries = 5)] //~ `#[step]` has no option `retries`; `max_attempts = 5` counts every attempt, the first one too
    async fn b(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
