use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}
fn used_by_main() {
    let mut m = std::collections::BTreeMap::new();
    m.insert(ShopStep::A, 1);
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
