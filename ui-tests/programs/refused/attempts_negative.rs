use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(max_attempts = -1)] //~ `max_attempts` is a whole number from 1 to 1000
    async fn a(&self, input: u32) -> Result<bool, StepError> { Ok(input > 1) }
}

fn main() {}
