use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input) -> Result<u32, StepError> { Ok(input) } //~
    #[step]
    async fn b(&self, a: u32) -> Result<u32, StepError> { Ok(a) }
    #[step]
    async fn c(&self, b: u32, a: u32) -> Result<u32, StepError> { Ok(a + b) }
}
flow_runtime::route_flow!(pub Routes for Shop { A => "x", B => "y", C => "z" });
fn usage(o: ShopOutput) { let _ = (ShopStep::A, Shop::A, o.c); }

fn main() {}
