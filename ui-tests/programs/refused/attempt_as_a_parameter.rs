use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32, attempt: u32) -> Result<u32, StepError> { Ok(input + attempt) } //~ ctx.attempt()
}

fn main() {}
