use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn check(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
}
#[test]
fn ok() {
    <Shop as Flow>::check().unwrap();
}
fn used() {
    <Shop as Flow>::check().unwrap();
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
