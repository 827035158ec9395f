use flow_runtime::prelude::*;

struct Shop;

#[flow_runtime::flow(input = Vec<u32>)]
impl Shop {
    #[flow_runtime::map(over = input)]
    async fn a(&self, item: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(item)
    }
    #[::flow_runtime::step]
    async fn b(&self, a: Vec<u32>) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(a[0])
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
