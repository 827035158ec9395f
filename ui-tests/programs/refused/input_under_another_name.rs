use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, amount: u32) -> Result<u32, StepError> { Ok(amount) } //~ name it `input`
}

fn main() {}
