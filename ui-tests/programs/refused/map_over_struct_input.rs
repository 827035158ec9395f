use flow_runtime::prelude::*;

struct Shop;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Order { lines: Vec<u32> }
#[flow(input = Order)]
impl Shop {
    #[map(over = input)] //~ a map needs a list to run over, and `Order` is none
    async fn pick(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
}

fn main() {}
