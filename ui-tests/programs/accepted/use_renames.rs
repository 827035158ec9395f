struct Shop;

use flow_runtime::{StepContext as Ctx, StepError as Oops, flow as workflow};
use std::result::Result;
#[workflow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, Oops> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[step]
    async fn b(&self, a: u32, ctx: &Ctx) -> Result<u32, Oops> {
        std::future::ready(ctx.attempt()).await;
        Ok(a)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
