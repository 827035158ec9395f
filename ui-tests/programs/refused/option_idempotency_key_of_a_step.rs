use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(idempotency_key = "x")] //~ idempotency_key(
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
