use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(when_exhausted = skip)]
    async fn a(&self, input: u32) -> Result<Option<u32>, StepError> {
        std::future::ready(()).await;
        Ok(Some(input))
    }
    #[step]
    async fn b(&self, a: Option<Option<u32>>) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(a.flatten().unwrap_or(0))
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
