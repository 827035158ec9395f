use flow_runtime::prelude::*;

struct Shop;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Order { gift: bool }
#[flow(input = Order)]
impl Shop {
    #[step(run_if = { "gif": true })] //~ the type has no field `gif`
    async fn reserve(&self, input: Order) -> Result<u32, StepError> { Ok(input.gift as u32) }
}
fn main() { Shop::check().unwrap(); }
