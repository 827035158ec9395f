// T16
use flow_runtime::prelude::*;

struct Shop;

flow_runtime::with_step_queues!(ShopQueues for Shop);

fn pool<Q: flow_runtime::StepQueued>(queues: Q, step: <Q::Flow as Flow>::Step) {
    let _ = (queues, step);
}

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {
    pool(ShopQueues::new(Shop));
}
