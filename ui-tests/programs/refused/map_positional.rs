use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(input)] //~ `#[map]` takes its options by name; write `over = input`
    async fn pick(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
}

fn main() {}
