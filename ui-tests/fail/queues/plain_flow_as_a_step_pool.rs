// T16
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {
    let worker = |db: Db| Worker::builder(&db).step(Shop, ShopStep::Reserve);
    let _ = worker;
}
