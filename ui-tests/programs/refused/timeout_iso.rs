use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(timeout = "PT30S")] //~ `timeout`: a duration begins with a number, as in "30s"
    async fn a(&self, input: u32) -> Result<bool, StepError> { Ok(input > 1) }
}

fn main() {}
