use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<String, StepError> { Ok(input) } //~ mismatched types
    #[step]
    async fn b(&self, a: String) -> Result<u32, StepError> { Ok(1) }
}

fn main() {}
