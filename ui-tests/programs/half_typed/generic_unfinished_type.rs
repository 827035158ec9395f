use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<Vec<u32, StepError> { Ok(vec![input]) } //~
    #[step]
    async fn b(&self, a: Vec<u32>) -> Result<u32, StepError> { Ok(a[0]) }
}
fn usage() { let _ = ShopStep::B; let _ = Shop::B; }

fn main() {}
