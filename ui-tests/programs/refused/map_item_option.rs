use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input)]
    async fn row(&self, item: Option<u32>) -> Result<u32, StepError> { Ok(item.unwrap()) } //~ this map runs over a list of `u32`, so its `item` is `u32`, not `std::option::Option<u32>`
}

fn main() {}
