use flow_runtime::prelude::*;

struct Shop;

use flow_runtime::StepContext as Attempt;

#[flow(input = u32)]
impl Shop {
    #[step(blocking)]
    fn a(&self, ctx: &Attempt, input: u32) -> Result<u32, StepError> {
        Ok(ctx.attempt() + input)
    }
    #[step]
    async fn b(&self, a: u32, ctx: &flow_runtime::StepContext) -> Result<u32, StepError> {
        Ok(ctx.attempt() + a)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
