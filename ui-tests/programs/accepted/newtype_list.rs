use flow_runtime::prelude::*;

struct Shop;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Lines(Vec<u32>);
impl flow_runtime::FlowList for Lines {
    type Item = u32;
}
#[flow(input = Lines)]
impl Shop {
    #[map(over = input)]
    async fn a(&self, item: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(item)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
