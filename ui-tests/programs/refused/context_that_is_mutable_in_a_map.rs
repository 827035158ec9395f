use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input)]
    async fn a(&self, item: u32, ctx: &mut StepContext) -> Result<u32, StepError> { let _ = ctx; Ok(item) } //~ `ctx` is the context; its type is `&StepContext`, not `&mut StepContext`
}

fn main() {}
