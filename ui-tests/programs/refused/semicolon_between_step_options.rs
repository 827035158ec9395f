use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(max_attempts = 5; timeout = "3s")] //~ `max_attempts` takes a whole number, as in `max_attempts = 5`
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
