use flow_runtime::prelude::*;

/// A shop.
pub struct Pub;
/// Input.
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Order;
/// Does it.
#[flow(input = Order)]
impl Pub {
    /// Reserves.
    /// # Errors
    /// never
    #[step]
    pub async fn a(&self, input: Order) -> Result<Order, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[map(over = c)]
    async fn d(&self, item: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(item)
    }
    #[step]
    async fn c(&self, a: Order) -> Result<Vec<u32>, StepError> {
        std::future::ready(a).await;
        Ok(vec![])
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Pub);
}
