use flow_runtime::prelude::*;

struct Shop;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Order { lines: Vec<u32> }
#[flow(input = Order)]
impl Shop {
    #[map(over = input.lines)] //~ a map runs over the whole of `input`; make a step that takes `input` and returns `input.lines`, and name that step
    async fn pick(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
}

fn main() {}
