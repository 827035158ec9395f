#![allow(clippy::large_stack_arrays)]

use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        let buf = [0u8; 20000];
        std::future::ready(()).await;
        Ok(u32::from(buf[0]) + input)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
