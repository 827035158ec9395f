// T16
use flow_runtime::prelude::*;

struct Shop;

flow_runtime::with_step_queues!(ShopQueues for Shop);

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn ship(&self, reserve: u32) -> Result<u32, StepError> {
        Ok(reserve)
    }
}

fn main() {
    let pools = |db: Db| {
        flow_runtime::WorkerSet::builder(&db).pools(ShopQueues::new(Shop), |step| match step {
            ShopStep::Reserve => flow_runtime::Pool::slots(1),
        })
    };
    let _ = pools;
}
