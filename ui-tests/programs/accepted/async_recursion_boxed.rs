use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        if input == 0 { Ok(0) } else { Box::pin(self.a(input - 1)).await }
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
