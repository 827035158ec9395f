use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(run_if = "input.gift == true")] //~ cannot occur here
    async fn reserve(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}
fn main() { Shop::check().unwrap(); }
