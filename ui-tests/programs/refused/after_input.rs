use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(after(input))] //~ step `b` depends on `input`, but this flow has no step named `input`; every step has the input already; leave it out
    async fn b(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
