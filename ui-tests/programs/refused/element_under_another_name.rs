use flow_runtime::prelude::*;

struct Shop;

#[flow(input = std::collections::VecDeque<String>)]
impl Shop {
    #[map(over = input)]
    async fn a(&self, order: String) -> Result<u32, StepError> { Ok(1) } //~ name it `item`
}

fn main() {}
