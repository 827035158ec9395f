// T14
// step `reserve` of flow `sssssssssssssssssssssssssssssssssssssssssssss` has no queue name that fits: `sssssssssssssssssssssssssssssssssssssssssssss__reserve` has 54 bytes and `sssssssssssssssssssssssssssssssssssssssssssss__0` has 48, but at most 47 are allowed; give the flow a shorter slug
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, slug = "sssssssssssssssssssssssssssssssssssssssssssss")]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

flow_runtime::with_step_queues!(ShopQueues for Shop);

fn main() {}
