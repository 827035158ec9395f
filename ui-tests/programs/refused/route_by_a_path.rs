use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}
flow_runtime::route_flow!(pub Routes for Shop { ShopStep::A => "x" }); //~ the form is `route_flow!

fn main() {}
