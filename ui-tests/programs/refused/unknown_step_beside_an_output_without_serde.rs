use flow_runtime::prelude::*;

struct Shop;

struct Receipt;
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<Receipt, StepError> { Ok(Receipt) } //~ `Receipt` cannot travel as JSON
    #[step(after(aa))] //~ step `b` depends on `aa`, but this flow has no step named `aa`
    async fn b(&self, a: Receipt) -> Result<u32, StepError> { Ok(1) }
    #[step]
    async fn c(&self, a: Receipt) -> Result<u32, StepError> { Ok(1) }
}

fn main() {}
