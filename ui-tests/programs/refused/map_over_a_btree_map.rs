use flow_runtime::prelude::*;

struct Shop;

#[flow(input = std::collections::BTreeMap<String, u32>)]
impl Shop {
    #[map(over = input)] //~ Vec<(String, u32)>
    async fn b(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
}

fn main() {}
