// T14
// step `reserve` of flow `shop` is routed twice; name it once
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, slug = "shop")]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

flow_runtime::route_flow!(ShopRoutes for Shop { Reserve => "stock", Reserve => "shelf" });

fn main() {}
