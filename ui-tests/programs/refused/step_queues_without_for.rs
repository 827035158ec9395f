use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

flow_runtime::with_step_queues!(pub Queues, Shop); //~ with_step_queues!(pub Queues for Shop)

fn main() {}
