use flow_runtime::prelude::*;

mod inner {
    pub struct Deep;
}
#[flow(input = u32)]
impl inner::Deep {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(inner::Deep);
}
