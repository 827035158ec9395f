use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input)]
    async fn pick(&self, line: u32) -> Result<u32, StepError> { Ok(line) } //~ step `pick` depends on `line`, but this flow has no step named `line`; the element of a map is the parameter `item`; name it `item`
}

fn main() {}
