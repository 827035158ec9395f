use flow_runtime::prelude::*;

struct Shop;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema, Clone)]
struct Big {
    a: [u64; 32],
    b: [u64; 32],
    c: [u64; 32],
    d: [u64; 32],
    s: Vec<String>,
}
#[flow(input = Big)]
impl Shop {
    #[step]
    async fn a(&self, input: Big) -> Result<Big, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[step]
    async fn b(&self, a: Big, input: Big) -> Result<Big, StepError> {
        std::future::ready(a).await;
        Ok(input)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
