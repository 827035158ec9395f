use flow_runtime::prelude::*;

struct Shop;

#[allow(deprecated)]
use old::Old;

/// The derives of a deprecated type speak of it too.
#[allow(deprecated)]
mod old {
    #[deprecated]
    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    pub struct Old;
}

#[flow(input = u32)]
impl Shop {
    #[allow(deprecated)]
    #[step]
    async fn a(&self, input: u32) -> Result<Old, StepError> {
        std::future::ready(input).await;
        Ok(Old)
    }
    #[allow(deprecated)]
    #[step]
    async fn b(&self, a: Old) -> Result<u32, StepError> {
        std::future::ready(a).await;
        Ok(1)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
