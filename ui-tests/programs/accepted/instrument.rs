#![allow(clippy::double_must_use)]

use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    #[tracing::instrument(skip(self), err(Debug))]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[allow(clippy::unused_async)]
    #[tracing::instrument(skip_all)]
    #[step(after(a))]
    async fn b(&self, input: u32, ctx: &StepContext) -> Result<u32, StepError> {
        let _ = ctx.attempt();
        Ok(input)
    }
    #[must_use]
    #[inline]
    #[step(blocking)]
    fn c(&self, b: u32) -> Result<u32, StepError> {
        let Self = self;
        Ok(b)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
