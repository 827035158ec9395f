use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(retries_allowed = true, interval_seconds = 1.0, max_attempts = 3)] //~ `#[step]` has no option `retries_allowed`; `max_attempts = 5` counts every attempt, the first one too; `#[step]` has no option `interval_seconds`; the wait before the first retry is `base_delay = "1s"`
    async fn b(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
