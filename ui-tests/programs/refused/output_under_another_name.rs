use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn pay(&self, input: u32) -> Result<String, StepError> { Ok(input.to_string()) }
    #[step]
    async fn b(&self, receipt: String) -> Result<u32, StepError> { Ok(1) } //~ name it `pay`
}

fn main() {}
