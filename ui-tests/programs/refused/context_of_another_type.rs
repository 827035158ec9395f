use flow_runtime::prelude::*;

struct Shop;

struct Request;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, ctx: &Request) -> Result<u32, StepError> { let _ = ctx; Ok(1) } //~ `ctx` is the context; its type is `&StepContext`, not `&Request`
}

fn main() {}
