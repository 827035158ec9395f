use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(self: std::sync::Arc<Self>, input: u32) -> Result<u32, StepError> { Ok(input) } //~ a step takes `//~self`
}

fn main() {}
