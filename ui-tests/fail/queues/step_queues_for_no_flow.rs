// T16
use flow_runtime::prelude::*;

struct Shop;

struct Mill;

flow_runtime::with_step_queues!(MillQueues for Mill);

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {}
