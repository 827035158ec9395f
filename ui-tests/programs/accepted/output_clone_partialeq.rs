#![allow(clippy::needless_pass_by_value)]

use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}
fn t(o: ShopOutput) {
    assert_eq!(o.clone(), ShopOutput { a: 3 });
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
