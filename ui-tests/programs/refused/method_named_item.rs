use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[step(slug = "prepared")]
    async fn item(&self, input: Vec<u32>) -> Result<u32, StepError> { Ok(1) } //~ a step cannot be called `item`, since a parameter called `item` is the element of a map; rename the method, and keep its name in data with `slug = "…"`
}

fn main() {}
