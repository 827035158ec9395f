use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[expect(clippy::unused_async, reason = "no await yet")]
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
    #[deprecated]
    #[step]
    async fn b(&self, a: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(a)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
