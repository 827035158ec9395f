// T14
// step `reserve` is routed to `größe`, which is no name of a queue: it is 1 to 47 of a-z, 0-9 and `_`
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, slug = "shop")]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

flow_runtime::route_flow!(ShopRoutes for Shop { Reserve => "größe" });

fn main() {}
