use flow_runtime::prelude::*;

struct Shop;

type Item = (u32, String);
#[flow(input = Vec<Item>)]
impl Shop {
    #[map(over = input)]
    async fn a(&self, #[allow(unused)] item: Item) -> Result<Item, StepError> {
        std::future::ready(()).await;
        Ok(item)
    }
    #[step]
    async fn b(&self, mut a: Vec<Item>) -> Result<u32, StepError> {
        std::future::ready(()).await;
        a.clear();
        Ok(1)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
