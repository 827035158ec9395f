use flow_runtime::prelude::*;

struct Shop;

mod my {
    pub type Result<E, T> = std::result::Result<T, E>;
}
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> my::Result<StepError, u32> {
        std::future::ready(()).await;
        Ok(input)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
