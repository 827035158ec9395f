#![allow(ungated_async_fn_track_caller)]

use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    #[rustfmt::skip]
    #[cold]
    #[track_caller]
    #[doc(hidden)]
    async fn a(&self, input: u32) -> Result<u32, StepError> { std::future::ready(()).await; Ok(input) }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
