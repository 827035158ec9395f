use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, ctx: &mut StepContext) -> Result<u32, StepError> { Ok(1) } //~ `ctx` is the context; its type is `&StepContext`, not `&mut StepContext`
}

fn main() {}
