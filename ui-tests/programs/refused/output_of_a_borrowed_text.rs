use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<&'static str, StepError> { Ok("x") } //~ the output of step `a` is read from JSON, so its type owns what it holds; drop the reference or lifetime
}

fn main() {}
