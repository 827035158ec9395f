use flow_runtime::prelude::*;

struct Shop;

trait HasOut {
    type Out;
}
impl HasOut for Shop {
    type Out = Vec<u32>;
}
#[flow(input = <Shop as HasOut>::Out)]
impl Shop {
    #[step]
    async fn a(&self, input: <Self as HasOut>::Out) -> Result<<Self as HasOut>::Out, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[map(over = a)]
    async fn b(&self, item: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(item)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
