use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    async fn prepare(&self) -> Result<u32, StepError> { Ok(1) }
    #[step]
    async fn b(&self, prepare: u32) -> Result<u32, StepError> { Ok(prepare) } //~ mark it with `#[step]`
}

fn main() {}
