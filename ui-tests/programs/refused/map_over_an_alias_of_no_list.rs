use flow_runtime::prelude::*;

struct Shop;

type Orders = Option<Vec<u32>>;

#[flow(input = Orders)]
impl Shop {
    #[map(over = input)] //~ a map needs a list
    async fn b(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
}

fn main() {}
