use flow_runtime::prelude::*;

struct Shop;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Receipt { n: u32 }
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<Receipt, StepError> { Ok(Receipt { n: input }) } //~ `Receipt` cannot travel as JSON
    #[step]
    async fn b(&self, a: Receipt) -> Result<u32, StepError> { Ok(a.n) }
}

fn main() {}
