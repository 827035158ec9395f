use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, _ctx: &StepContext) -> Result<u32, StepError> { Ok(1) } //~ the context is the parameter `ctx: &StepContext`; name it `ctx`
}

fn main() {}
