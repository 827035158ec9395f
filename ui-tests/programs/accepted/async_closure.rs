use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        let f = async |n: u32| -> Result<u32, StepError> {
            std::future::ready(()).await;
            Ok(n + 1)
        };
        f(input).await
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
