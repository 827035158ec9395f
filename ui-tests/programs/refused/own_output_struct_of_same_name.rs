use flow_runtime::prelude::*;

struct Shop;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct ShopOutput { n: u32 }
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<ShopOutput, StepError> { Ok(ShopOutput { n: input }) } //~ `ShopOutput` is the name that this flow gives to the run's output; rename your type, or say `names = …` on `#[flow]`
}

fn main() {}
