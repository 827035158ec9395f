use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[step]
    async fn b(&self, a: u32, ctx: &StepContext) -> Result<u32, StepError> {
        let _ = ctx;
        self.a(a).await
    }
    #[step]
    async fn c(&self, b: u32, ctx: &StepContext) -> Result<u32, StepError> {
        self.b(b, ctx).await
    }
}
#[test]
fn unit() {
    let rt = tokio::runtime::Runtime::new().unwrap();
    let ctx = StepContext::for_test();
    assert_eq!(rt.block_on(Shop.c(1, &ctx)).unwrap(), 1);
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
