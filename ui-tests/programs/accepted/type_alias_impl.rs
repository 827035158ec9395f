use flow_runtime::prelude::*;

struct Real;
type Alias = Real;
#[flow(input = u32)]
impl Alias {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
}
fn used() {
    let _ = AliasStep::A;
    let _ = Real::A;
}

pub(crate) fn main() {
    crate::run::run_handlers(Real);
}
