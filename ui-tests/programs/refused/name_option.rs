use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(name = "reserve-stock")] //~ `#[step]` has no option `name`; the name in data is `slug = "…"`
    async fn b(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
