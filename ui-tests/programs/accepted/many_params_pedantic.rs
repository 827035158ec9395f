#![allow(clippy::many_single_char_names)]

use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[step]
    async fn b(&self, input: u32) -> Result<bool, StepError> {
        std::future::ready(()).await;
        Ok(input > 1)
    }
    #[step]
    async fn c(&self, input: u32) -> Result<bool, StepError> {
        std::future::ready(()).await;
        Ok(input > 1)
    }
    #[step]
    async fn d(&self, input: u32) -> Result<bool, StepError> {
        std::future::ready(()).await;
        Ok(input > 1)
    }
    #[step]
    async fn e(&self, input: u32) -> Result<bool, StepError> {
        std::future::ready(()).await;
        Ok(input > 1)
    }
    #[step]
    async fn f(&self, a: u32, b: bool, c: bool, d: bool, e: bool) -> Result<u32, StepError> {
        std::future::ready((b, c, d, e)).await;
        Ok(a)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
