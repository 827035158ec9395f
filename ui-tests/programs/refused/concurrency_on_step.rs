use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(concurrency = 4)] //~ `#[step]` has no option `concurrency`; how much runs at once is the worker's to say, with `.concurrency(4)`; for one step, give it a pool with `with_step_queues!`
    async fn a(&self, input: u32) -> Result<bool, StepError> { Ok(input > 1) }
}

fn main() {}
