use flow_runtime::prelude::*;

struct Shop;

struct ShopOrder;
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn order_pay(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}
#[flow(input = u32)]
impl ShopOrder {
    #[step]
    async fn pay(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
    crate::run::run_handlers(ShopOrder);
}
