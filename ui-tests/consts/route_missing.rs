// T14
// step `ship` of flow `shop` has no route; every step names its queue, as in `Ship => "carriers"`
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, slug = "shop")]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn ship(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

flow_runtime::route_flow!(ShopRoutes for Shop { Reserve => "stock" });

fn main() {}
