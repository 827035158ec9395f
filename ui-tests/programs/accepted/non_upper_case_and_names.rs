use flow_runtime::prelude::*;

struct Shop;

#[allow(non_snake_case)]
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn ChargeCard(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[step(variant = X2y)]
    async fn a1b(&self, #[from(ChargeCard)] c: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(c)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
