use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(input).await;
        todo!()
    }
    #[step]
    async fn b(&self, a: u32) -> Result<u32, StepError> {
        std::future::ready(a).await;
        unimplemented!("later")
    }
    #[step]
    async fn c(&self, b: u32) -> Result<u32, StepError> {
        std::future::ready(b).await;
        loop {
            tokio::task::yield_now().await;
        }
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
