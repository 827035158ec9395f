use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(timeout = "1m30s")] //~ `timeout`: `m30s` is no unit of time; use ms, s, m, h or d, as in "30s"
    async fn a(&self, input: u32) -> Result<bool, StepError> { Ok(input > 1) }
}

fn main() {}
