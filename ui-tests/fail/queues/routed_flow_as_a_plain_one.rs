// T16
use flow_runtime::prelude::*;

struct Shop;

flow_runtime::route_flow!(ShopRoutes for Shop { Reserve => "stock" });

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {
    let worker = |db: Db| Worker::builder(&db).flow(ShopRoutes::new(Shop));
    let _ = worker;
}
