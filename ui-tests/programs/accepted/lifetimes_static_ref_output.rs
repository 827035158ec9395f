use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<std::marker::PhantomData<fn() -> u8>, StepError> {
        std::future::ready(input).await;
        Ok(std::marker::PhantomData)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
