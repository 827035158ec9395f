use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(slug = "prepared")]
    async fn ctx(&self, input: u32) -> Result<u32, StepError> { Ok(1) } //~ a step cannot be called `ctx`, since a parameter called `ctx` is the context; rename the method, and keep its name in data with `slug = "…"`
}

fn main() {}
