// T26
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32, ctx: StepContext) -> Result<u32, StepError> {
        let _ = ctx;
        Ok(input)
    }
}

fn main() {}
