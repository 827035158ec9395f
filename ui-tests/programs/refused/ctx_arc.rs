use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, ctx: std::sync::Arc<StepContext>) -> Result<u32, StepError> { Ok(1) } //~ `ctx` is the context; its type is `&StepContext`, not `std::sync::Arc<StepContext>`
}

fn main() {}
